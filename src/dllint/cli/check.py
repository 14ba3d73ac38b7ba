"""The options of `dllint check`"""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from dllint.cli.options import (
    FILES,
    FIXES,
    FORMAT,
    OUTPUT,
    RULES,
    RUN,
    CacheDir,
    Color,
    Config,
    Isolated,
    NoCache,
    OutputFile,
    TargetPlatform,
    TargetPython,
    option,
)
from dllint.finding import Severity
from dllint.reporters import Format


def check(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATHS",
            help="Files and directories, or - for standard input; default: the project around this directory.",
            default_factory=list,
            show_default=False,
        ),
    ],
    select: Annotated[
        Optional[list[str]],
        option("--select", "Rules to check: codes, prefixes or names, comma-separated.", RULES, metavar="RULES"),
    ] = None,
    ignore: Annotated[
        Optional[list[str]],
        option("--ignore", "Rules not to check: codes, prefixes or names, comma-separated.", RULES, metavar="RULES"),
    ] = None,
    extend_select: Annotated[
        Optional[list[str]],
        option("--extend-select", "Rules to check in addition to the selected ones.", RULES, metavar="RULES"),
    ] = None,
    per_file_ignores: Annotated[
        Optional[list[str]],
        option(
            "--per-file-ignores",
            "Rules not to check in some files: PATTERN:RULE, comma-separated.",
            RULES,
            metavar="PATTERN:RULE",
        ),
    ] = None,
    preview: Annotated[
        Optional[bool],
        option("--preview/--no-preview", "Also check the rules that are in preview.", RULES, show_default=False),
    ] = None,
    fix: Annotated[bool, option("--fix", "Apply safe fixes.", FIXES)] = False,
    unsafe_fixes: Annotated[
        bool,
        option("--unsafe-fixes", "Include unsafe fixes, which may change what the program does.", FIXES),
    ] = False,
    diff: Annotated[bool, option("--diff", "Print what --fix would change, and change nothing.", FIXES)] = False,
    show_fixes: Annotated[bool, option("--show-fixes", "List the fixes that were applied.", FIXES)] = False,
    fail_on: Annotated[
        Severity, option("--fail-on", "Lowest severity that makes the exit code 1.", OUTPUT)
    ] = "warning",
    output_format: Annotated[Format, FORMAT] = "text",
    output_file: OutputFile = None,
    output: Annotated[
        Optional[list[str]],
        option("--output", "Also write the report to a file in this format.", OUTPUT, metavar="FORMAT=FILE"),
    ] = None,
    statistics: Annotated[
        bool, option("--statistics", "Print a count per rule instead of the findings.", OUTPUT)
    ] = False,
    quiet: Annotated[bool, option("--quiet", "Print findings and errors only.", OUTPUT, "-q")] = False,
    show_all: Annotated[bool, option("--show-all", "List all related places of a finding.", OUTPUT)] = False,
    verbose: Annotated[
        bool, option("--verbose", "Also print which limits of the analysis were met, and how often.", OUTPUT, "-v")
    ] = False,
    profile_rules: Annotated[
        bool,
        option("--profile-rules", "Also print the processor time of each step, rule and kind of question.", OUTPUT),
    ] = False,
    exit_zero: Annotated[bool, option("--exit-zero", "Exit with 0 even if there are findings.", OUTPUT)] = False,
    exit_non_zero_on_fix: Annotated[
        bool, option("--exit-non-zero-on-fix", "Exit with 1 even if every finding was fixed.", OUTPUT)
    ] = False,
    add_ignore: Annotated[bool, option("--add-ignore", "Add a suppression comment at every finding.", FIXES)] = False,
    baseline: Annotated[
        Optional[str],
        option(
            "--baseline",
            "Report only findings that this file does not list; see --write-baseline.",
            OUTPUT,
            metavar="FILE",
        ),
    ] = None,
    write_baseline: Annotated[
        Optional[str],
        option("--write-baseline", "Write the findings to this file, for --baseline.", OUTPUT, metavar="FILE"),
    ] = None,
    with_run: Annotated[
        Optional[str],
        option(
            "--with-run",
            "Show the verdicts of an earlier `dllint run --output-format json`.",
            OUTPUT,
            metavar="FILE",
        ),
    ] = None,
    no_cache: NoCache = False,
    cache_dir: CacheDir = None,
    force_exclude: Annotated[
        bool, option("--force-exclude", "Skip excluded files even if they are named.", FILES)
    ] = False,
    no_respect_gitignore: Annotated[
        bool, option("--no-respect-gitignore", "Check files that git ignores too.", FILES)
    ] = False,
    exclude: Annotated[
        Optional[list[str]],
        option("--exclude", "Files not to check; replaces the default patterns.", FILES, metavar="PATTERNS"),
    ] = None,
    extend_exclude: Annotated[
        Optional[list[str]], option("--extend-exclude", "More files not to check.", FILES, metavar="PATTERNS")
    ] = None,
    stdin_filename: Annotated[
        Optional[str], option("--stdin-filename", "Path of the file that standard input holds.", FILES, metavar="FILE")
    ] = None,
    show_files: Annotated[
        bool, option("--show-files", "List the files that would be checked, and check nothing.", FILES)
    ] = False,
    show_settings: Annotated[
        bool, option("--show-settings", "Print the settings in force, and check nothing.", RUN)
    ] = False,
    config: Config = None,
    isolated: Isolated = False,
    target_python: TargetPython = None,
    target_platform: TargetPlatform = None,
    jobs: Annotated[
        Optional[int],
        option("--jobs", "Number of processes that parse files; default: all cores.", RUN, "-j", min=1, metavar="N"),
    ] = None,
    watch: Annotated[bool, option("--watch", "Check again whenever a file changes.", RUN, "-w")] = False,
    color: Color = "auto",
) -> int:
    """Check files and directories for data loading hazards."""
    options = dict(locals())
    from dllint.commands import check as checking
    from dllint.commands.conclusion import Request
    from dllint.commands.settings import split

    choice, others = split(options)
    others["output"] = others["output"] or ()
    return checking.run(Request(choice=choice, **others))
