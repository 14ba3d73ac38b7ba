"""jieba 0.42.1, and jieba_fast with the same names.

The functions of the module are methods of one tokenizer, which keeps a lock (`jieba/__init__.py`, `dt = Tokenizer()`,
`cut = dt.cut`). Every row was measured with CPython 3.11.7 on jieba.
"""

from dllint.libraries.facets import Library
from dllint.libraries.pickling import RLOCK, Refusal
from dllint.screen import Words

_METHOD = Refusal("a method of jieba's tokenizer", RLOCK, "method")
_NAMES = (
    *("cut", "lcut", "cut_for_search", "lcut_for_search", "tokenize", "add_word", "del_word", "suggest_freq"),
    *("calc", "get_DAG", "get_dict_file", "initialize", "load_userdict", "set_dictionary"),
    *("analyse.extract_tags", "analyse.textrank", "analyse.tfidf", "analyse.set_idf_path"),
)

LIBRARY = Library(
    refusals={"jieba.Tokenizer": Refusal("a jieba tokenizer", RLOCK)},
    unpicklable_functions=dict.fromkeys((f"jieba.{name}" for name in _NAMES), _METHOD),
    renamed={"jieba_fast.": "jieba."},
    words=Words(nearby=(b"jieba",)),
)
