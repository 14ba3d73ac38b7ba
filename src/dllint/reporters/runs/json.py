"""The report of a run as one object. Rows and columns count from 1; times are seconds, memory is bytes."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from dllint.linter import Report
from dllint.reporters import Style
from dllint.reporters.json import finding_object
from dllint.reporters.source import placed
from dllint.run_report import RUN_VERSION, LoaderReport, ProcessReport, RunReport, Sample


def render(report: RunReport, style: Style) -> str:
    return json.dumps(run_object(report), indent=2, ensure_ascii=False, default=str) + "\n"


def run_object(report: RunReport) -> dict[str, Any]:
    findings = Report(report.findings, sources=report.sources)
    end = report.exit
    return {
        "version": RUN_VERSION,
        "command": list(report.command),
        "directory": report.directory,
        "exit": {
            "ending": end.ending,
            "code": end.code,
            "out_of_time": end.out_of_time,
            "duration": round(end.duration_s, 3),
            "message": end.message or None,
            "explained_by": end.explained or None,
            "cause": end.cause or None,
            "stacks": {str(pid): stack for pid, stack in end.stacks.items()},
        },
        "environment": dict(report.environment),
        "loaders": [_loader(one) for one in report.loaders],
        "processes": [_process(one) for one in report.processes],
        "uninstrumented": list(report.uninstrumented),
        "redirected": dict(report.redirected),
        "isolation": dataclasses.asdict(report.isolation),
        "written": [dataclasses.asdict(one) for one in report.written],
        "kept_in": report.kept_in or None,
        "notes": list(report.notes),
        "findings": [finding_object(one, findings) for one in report.findings],
    }


def _loader(loader: LoaderReport) -> dict[str, Any]:
    return {
        "site": placed(loader.site),
        "class": loader.name,
        "dataset": loader.dataset or None,
        "arguments": dict(loader.arguments),
        "start_method": loader.start_method or None,
        "storages": dict(loader.storages),
        "predictions": [
            {
                "limit": one.limit,
                "start_method": one.method or None,
                "message": one.message,
                "fails": one.fails,
                "need": one.need,
                "available": one.available,
                "unit": one.unit or None,
            }
            for one in loader.predictions
        ],
        "workers": [dict(one) for one in loader.workers],
        "waits": [
            {
                "at": round(one.at_s, 4),
                "wait": round(one.wait_s, 6),
                "step": None if one.step_s is None else round(one.step_s, 6),
            }
            for one in loader.waits
        ],
        "summary": list(loader.summary),
    }


def _process(process: ProcessReport) -> dict[str, Any]:
    return {
        "pid": process.pid,
        "parent": process.parent,
        "name": process.name,
        "start_method": process.method or None,
        "daemon": process.daemon,
        "site": placed(process.site),
        "exit": process.exit,
        "samples": [_sample(one) for one in process.samples],
    }


def _sample(sample: Sample) -> dict[str, Any]:
    return {
        "at": round(sample.at_s, 3),
        "uss": sample.uss,
        "pss": sample.pss,
        "rss": sample.rss,
        "threads": sample.threads,
        "descriptors": sample.descriptors,
    }
