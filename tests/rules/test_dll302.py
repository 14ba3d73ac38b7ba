"""DLL302: which Python objects on datasets cost a copy in each worker, and which do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL302"]}

HEAD = """\
import csv
import json
import os
import pickle
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset
"""
TAIL = """
def build(path):
    return DataLoader(Rows(path), num_workers=4, multiprocessing_context="fork")
"""
READ = """
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
"""


def dataset(init: str, before: str = "", extra: str = READ, tail: str = TAIL) -> str:
    """A module with a dataset whose `__init__` has the lines `init`."""
    body = "".join(f"        {line}\n" for line in init.splitlines())
    return f"{HEAD}{before}\nclass Rows(Dataset):\n    def __init__(self, path):\n{body}{extra}{tail}"


PACKED = (
    READ
    + """
class Packed(Rows):
    def __getitem__(self, *args, **options):
        return super().__getitem__(*args, **options)
"""
)
PAIRS = READ.replace("return self.rows[index]", "one, two = self.rows[index]\n        return open(self.paths[one])")
OPENED = PACKED.replace("return self.rows[index]", "return open(os.path.join('a', self.rows[index] + '.txt'))")
PREPARED = f"""{HEAD}
import random

class Rows(IterableDataset):
    def __init__(self, path):
        self.rows = json.load(open(path))  # DLL302

    def shuffled(self):
        order = []
        for row in self.rows:
            order.append(row)
        random.shuffle(order)
        for row in order:
            yield row

    def __iter__(self):
        while True:
            yield from self.shuffled()
{TAIL}"""
SEARCHED = f"""{HEAD}
import random

class Rows(IterableDataset):
    def __init__(self, path):
        self.rows = json.load(open(path))  # DLL302

    def one(self, name):
        for row in self.rows:
            if row["name"] == name:
                return row

    def __iter__(self):
        for name in open("names.txt"):
            yield self.one(name)
{TAIL}"""
UNITS = f"""{HEAD}
class Rows(IterableDataset):
    def __init__(self, path):
        self.units = {{one["key"]: one["unit"] for one in json.load(open(path))}}

    def converted(self, items):
        item = dict(next(items))
        for key, unit in self.units.items():
            if unit == "m":
                item[key] = item[key] * 1000
        yield item

    def __iter__(self):
        items = iter(range(9))
        while True:
            for item in self.converted(items):
                yield item
{TAIL}"""

CELLS = READ.replace(
    "return self.rows[index]",
    "video, name, label, fold = self.rows[index]\n        return open(os.path.join(video, name)).read(), label, fold",
)

FOUND: dict[str, str] = {
    "wide rows of a table as an array": dataset(
        "self.rows = pd.read_csv(path).dropna().values  # DLL302", before="import pandas as pd\n", extra=CELLS
    ),
    "wide rows of some of a table as an array": dataset(
        "table = pd.read_csv(path)\nself.rows = table[table['fold'] != 3].to_numpy()  # DLL302",
        before="import pandas as pd\n",
        extra=CELLS.replace("video, name, label, fold =", "row =").replace(
            "return open", "video, name, label, fold = row[0], row[1], row[2], row[3]\n        return open"
        ),
    ),
    "records that the function sets which makes the dataset": dataset(
        "self.rows = None",
        tail="""
def build(path):
    dataset = Rows(path)
    dataset.rows = [json.loads(line) for line in open(path)]  # DLL302
    return DataLoader(dataset, num_workers=4, multiprocessing_context="fork")
""",
    ),
    "records of paths and a text": dataset(
        "self.rows = json.load(open(path))['train']  # DLL302",
        extra=READ.replace(
            "return self.rows[index]",
            "one, two = self.rows[index]\n        return open(os.path.join('a', one)), two.lower()",
        ),
    ),
    "columns of lists of a table that nothing shows": dataset(
        "self.rows = path.tables['train'].to_dict('list')  # DLL302",
        extra=READ.replace("self.rows[index]", "self.rows['user'][index], self.rows['item'][index]"),
    ),
    "rows of a table that nothing shows": dataset("self.rows = path.table.to_dict(orient='records')  # DLL302"),
    "columns of lists": dataset(
        "self.rows = pandas.read_csv(path).to_dict('list')  # DLL302\nself.rows['x'] = numpy.array(self.rows['x'])",
        before="import numpy\nimport pandas\n",
        extra=READ.replace("self.rows[index]", "{key: column[index] for key, column in self.rows.items()}"),
    ),
    "numbers of a file and of a row in it": dataset(
        "self.paths = path\nself.rows = []  # DLL302\n"
        "for i, name in enumerate(path):\n"
        "    for j in range(len(open(name).read())):\n        self.rows.append((i, j))",
        before="import numpy\n",
        extra=PAIRS,
    ),
    "pairs of numbers that a generator gives": dataset(
        "self.paths = path\nself.rows = []  # DLL302\n"
        "for i, name in enumerate(path):\n    self.rows.extend((i, j) for j in range(len(open(name).read())))",
        before="import numpy\n",
        extra=PAIRS,
    ),
    "pairs of numbers that zip gives": dataset(
        "self.paths = path\nself.rows = []  # DLL302\n"
        "for i, name in enumerate(path):\n    size = numpy.load(name).shape[0]\n"
        "    self.rows.extend(list(zip([i] * size, range(size))))",
        before="import numpy\n",
        extra=PAIRS,
    ),
    "pairs of a count and a number": dataset(
        "self.paths = path\nself.rows = []  # DLL302\ni = 0\n"
        "for name in path:\n    for size in numpy.load(name):\n"
        "        self.rows += zip([i] * size, range(size))\n        i += 1",
        before="import numpy\n",
        extra=PAIRS,
    ),
    "items that a method with packed arguments reads": dataset(
        "self.rows = json.load(open(path))  # DLL302", extra=PACKED, tail=TAIL.replace("Rows", "Packed")
    ),
    "a list that the loop over it adds to": dataset(
        "self.rows = [open(path).readline()]  # DLL302\nfor row in self.rows:\n    self.rows.append((row, 1))"
    ),
    "the numbers that a query returns": dataset(
        "self.rows = self.numbers(path)  # DLL302",
        before="import pandas\nimport sqlite3\n",
        extra=READ
        + "\n    def numbers(self, path):\n"
        + "        rows = pandas.read_sql_query('SELECT number FROM rows', sqlite3.connect(path))\n"
        + "        return rows.values.ravel().tolist()\n",
    ),
    "lines looked up by numbers that a sampler makes of them": dataset(
        "self.rows = [line.strip() for line in open(path)]  # DLL302\nself.sampler = Sampler()",
        before="import random\n\nclass Sampler:\n    def sample(self, rows):\n"
        "        numbers = list(range(len(rows)))\n        random.shuffle(numbers)\n        return numbers\n",
        extra="\n    def __iter__(self):\n        numbers = self.sampler.sample(self.rows)\n"
        "        for number in numbers:\n            yield dict(text=json.loads(self.rows[number]))\n",
    ).replace("Rows(Dataset)", "Rows(IterableDataset)"),
    "records of the names of files, with some under a constant": dataset(
        "self.names = tuple(os.listdir(path))\nself.rows = json.load(open('rows.json'))  # DLL302",
        extra=READ.replace("return self.rows[index]", "return self.rows['train'][self.names[index]], self.rows['all']"),
    ),
    "a list for each record, to which others are added": dataset(
        "lines = open(path).readlines()\nself.rows = [[] for line in lines]  # DLL302\n"
        "for number, line in enumerate(lines):\n    self.rows[number].append(line.split())"
    ),
    "lines that a method prepares anew for each epoch": PREPARED,
    "a record that a method looks for again and again": SEARCHED,
    "lines looked up again and again": dataset(
        "self.rows = [line.strip() for line in open(path)]  # DLL302",
        extra="\n    def __iter__(self):\n        size = len(self.rows)\n        count = 0\n        while True:\n"
        "            yield json.loads(self.rows[count % size])\n            count += 1\n",
    ).replace("Rows(Dataset)", "Rows(IterableDataset)"),
    "a dict that an array without dimensions holds": dataset(
        "cache, exists = numpy.load(path, allow_pickle=True).item(), True\n"
        "labels, shapes = zip(*cache.values())\nself.rows = list(labels)  # DLL302",
        "import numpy\n",
    ),
    "rows with fields of their own beside a path": dataset(
        "self.rows = []  # DLL302\nfor _, row in pandas.read_csv(path).iterrows():\n"
        "    self.rows.append([{'file': row['file'], 'names': row['names']}])",
        before="import pandas\n",
        extra="\n    def __getitem__(self, index):\n        pair = self.rows[index]\n"
        "        image = open(str(pair[0]['file']))\n        names = []\n        for one in pair:\n"
        "            files = open(one['file'])\n            for name in one['names']:\n"
        "                names.append(name)\n        return image, names\n",
    ),
    "a list that a function of the project stacks": dataset(
        "self.rows = []  # DLL302\nfor name in os.listdir(path):\n    self.rows.extend(json.load(open(name)))\n"
        "self.rows = stack(self.rows)",
        before="def stack(rows):\n    return [*rows]\n",
    ),
    "an entry under a constant key": dataset(
        "self.rows = {}  # DLL302\nself.rows['train'] = json.load(open(path))",
        extra=READ.replace("self.rows[index]", "self.rows['train'][index]"),
    ),
    "lists that are entries under keys of a loop": dataset(
        "self.rows = dict()  # DLL302\nfor key in ('one', 'other'):\n    self.rows[key] = []\n"
        "rows = json.load(open(path))\nfor key in ('one', 'other'):\n    self.rows[key].extend(rows[key])",
        extra=READ.replace("self.rows[index]", "self.rows['one'][index]"),
    ),
    "rows under keys that the object keeps, one of them a path": dataset(
        "self.image, self.name = path\nself.rows = []  # DLL302\nfor row in csv.DictReader(open(path)):\n"
        "    self.rows.append({self.image: row[self.image], self.name: row[self.name]})",
        extra="\n    def __getitem__(self, index):\n        row = self.rows[index]\n"
        "        return open(row[self.image]), self.encoder(row[self.name])\n",
    ),
    "lines of a path and its transcript": dataset(
        "rows = [line.strip().split('|') for line in open(path)]\nself.rows = [row for row in rows]  # DLL302",
        extra="\n    def __getitem__(self, index):\n        row = self.rows[index]\n        path = row[0]\n"
        "        return self.load(row), path\n"
        "\n    def load(self, row):\n        wave_path, text, speaker = row\n"
        "        return open(wave_path), self.clean(text), int(speaker)\n",
    ),
    "asked for by a tuple of numbers": dataset(
        "self.rows = json.load(open(path))  # DLL302",
        extra="\n    def __getitem__(self, index):\n        row, position, wrapped = index\n"
        "        return self.rows['images'][row]['id'], position\n",
    ),
    "asked for by a list of numbers": dataset(
        "self.rows = json.load(open(path))  # DLL302",
        extra="\n    def __getitem__(self, indices):\n        found = []\n"
        "        for place, one in enumerate(indices):\n"
        "            found.append((place, self.rows[one]))\n        return found\n",
    ),
    "records picked at random": dataset(
        "self.rows = pickle.load(open(path, 'rb'))  # DLL302",
        before="import numpy as np\n",
        extra="\n    def __getitem__(self, index):\n        place = np.random.randint(0, len(self.rows))\n"
        "        row = self.rows[place]\n        return row['points']\n",
    ),
    "parted into two lists": dataset(
        "self.rows = []\nrows = json.load(open(path))\nlong, short = [], []\nfor place in range(len(rows)):\n"
        "    row = rows[place]\n    if len(row['text']) > 100:\n        long.append(row)\n    else:\n"
        "        short.append(row)\nself.rows = [long, short]  # DLL302",
        extra="\n    def __getitem__(self, index):\n        return self.rows[0][index], self.rows[1][index]\n",
    ),
    "parts of a list that `list` begins": dataset(
        "texts = list()\nwith open(path) as file:\n    for line in file.readlines():\n"
        "        texts.append(line.split(' ')[1])\nself.rows = list(texts[:1000])  # DLL302",
    ),
    "added by a list of one": dataset(
        "self.rows = []  # DLL302\nfor row in json.load(open(path)):\n    self.rows += [row['caption']]",
    ),
    "dicts of zipped keys and fields": dataset(
        "self.rows = []  # DLL302\nfor row in csv.reader(open(path)):\n"
        "    self.rows.append([dict(zip(['name', 'text'], [row[0], row[1]]))])",
    ),
    "a method of the new object": dataset(
        "self.rows = []",
        extra=READ + "\n    def populate(self, path):\n        self.rows = json.load(open(path))  # DLL302\n",
        tail="\ndef build(path):\n    rows = Rows(path)\n    rows.populate(path)\n"
        '    return DataLoader(rows, num_workers=4, multiprocessing_context="fork")\n',
    ),
    "zipped lines in objects of the project": dataset(
        "texts = [line.strip() for line in open(path)]\nothers = [line.strip() for line in open(path + '.b')]\n"
        "self.rows = []  # DLL302\nfor number, (text, other) in enumerate(zip(texts, others)):\n"
        "    self.rows.append(Example(number, text))",
        before="\nclass Example:\n    def __init__(self, number, text):\n        self.text = text\n",
        extra=READ.replace("self.rows[index]", "self.rows[index].text"),
    ),
    "lines that are parsed under another name": dataset(
        "self.rows = open(path).readlines()  # DLL302",
        before="parsed = json.loads\n",
        extra=READ.replace(
            "return self.rows[index]",
            "row = parsed(self.rows[index])\n        return open(os.path.join('a', row['name'])), row['boxes']",
        ),
    ),
    "lines that are parsed, of which one field is a path": dataset(
        "self.rows = open(path).readlines()  # DLL302",
        extra=READ.replace(
            "return self.rows[index]",
            "row = json.loads(self.rows[index].strip())\n        "
            "return open(os.path.join('a', row['name'])), row['boxes']",
        ),
    ),
    "captions beside arrays": dataset(
        "self.rows = {}  # DLL302\nself.names = []\nfor name in os.listdir(path):\n    texts = []\n"
        "    for line in open(name + '.txt'):\n        texts.append({'caption': line.split('#')[0]})\n"
        "    self.rows[name] = {'frames': np.load(name), 'texts': texts}\n    self.names.append(name)",
        before="import numpy as np\nimport random\n",
        extra=READ.replace(
            "return self.rows[index]",
            "row = self.rows[self.names[index]]\n        return row['frames'], random.choice(row['texts'])['caption']",
        ),
    ),
    "a dict that takes over others": dataset(
        "self.rows = {}\nfor part in path:\n    self.rows = {**self.rows, **json.load(open(part))}  # DLL302\n"
        "self.names = list(self.rows)",
        extra=READ.replace("self.rows[index]", "self.rows[self.names[index]]['caption']"),
    ),
    "a list that takes over others": dataset("self.rows = [*json.load(open(path)), *json.load(open('b'))]  # DLL302"),
    "lines that words are put before": dataset(
        "self.rows = [line.strip() for line in open(path)]  # DLL302",
        extra=READ.replace("return self.rows[index]", "return encode(' ' + self.rows[index])"),
    ),
    "lines in a sentence": dataset(
        "self.rows = [line.strip() for line in open(path)]  # DLL302",
        extra=READ.replace("return self.rows[index]", "return encode(f'Question: {self.rows[index]}')"),
    ),
    "loaded when the length is asked for": dataset(
        "self.path = path",
        extra=READ.replace("return len(self.rows)", "self.load()\n        return len(self.rows)")
        + "\n    def load(self):\n        if not hasattr(self, 'rows'):\n"
        "            self.rows = json.load(open(self.path))  # DLL302\n",
    ),
    "a method of a base, of an object that an attribute names": dataset(
        "self.rows = []",
        before="\nclass Base(Dataset):\n    def populate(self, path):\n"
        "        for row in json.load(open(path)):\n            self.rows.append(row['text'])\n",
        extra=READ,
        tail="\nclass Data:\n    def setup(self, path):\n        self.train = Rows(path)\n"
        "        self.train.populate(path)\n\n    def loader(self):\n"
        "        return DataLoader(self.train, num_workers=4)\n",
    )
    .replace("class Rows(Dataset)", "class Rows(Base)")
    .replace("        self.rows = []\n", "        self.rows = []  # DLL302\n"),
    "lists of a default dict": dataset(
        "rows = json.load(open(path))\nself.rows = defaultdict(list)  # DLL302\n"
        "for row in rows['annotations']:\n    self.rows[row['image']].append(row)",
        before="from collections import defaultdict\n",
    ),
    "rows of a dataset of the hub": dataset(
        "self.rows = [row for row in load_dataset('squad', split='train')]  # DLL302",
        before="from datasets import load_dataset\n",
    ),
    "rows of a dataset of the hub, in a loop": dataset(
        "data = datasets.load_from_disk(path)\nself.rows = []  # DLL302\nfor row in data.shuffle():\n"
        "    self.rows.append({'text': row['text']})",
        before="import datasets\n",
    ),
    "json.load": dataset("self.rows = json.load(open(path))  # DLL302"),
    "items that an attribute gives up for some of its own": dataset(
        "self.rows = pickle.load(open(path, 'rb'))\n"
        "wanted = range(3)\n"
        "self.rows = [self.rows[one] for one in wanted]  # DLL302"
    ),
    "a key of what was read": dataset("self.rows = json.load(open(path))['annotations']  # DLL302"),
    "an alias of the module": dataset("self.rows = j.load(open(path))  # DLL302", before="import json as j\n"),
    "an imported function": dataset("self.rows = read(open(path))  # DLL302", before="from json import load as read\n"),
    "a part drawn at random": dataset(
        "rows = open(path).readlines()\nself.rows = random.sample(rows, 50)  # DLL302", before="import random\n"
    ),
    "a dict by number of a list": dataset(
        "with open(path) as f:\n    rows = f.readlines()\n"
        "rows = [row.strip().split('\\t')[1] for row in rows]\n"
        "self.rows = dict(enumerate(rows))  # DLL302"
    ),
    "a base class that asks for an item by another name": HEAD
    + "from torch_geometric.data import Dataset as Graphs\n\n"
    "class Rows(Graphs):\n    def __init__(self, path):\n        super().__init__(path)\n"
    "        self.rows = json.load(open(path))  # DLL302\n\n"
    "    def len(self):\n        return len(self.rows)\n\n"
    "    def get(self, index):\n        return self.rows[index]\n" + TAIL,
    "a method that the base class's constructor runs": HEAD + "from torch_geometric.data import Dataset as Graphs\n\n"
    "class Rows(Graphs):\n    def process(self):\n"
    "        self.rows = json.load(open(self.root))  # DLL302\n\n"
    "    def len(self):\n        return len(self.rows)\n\n"
    "    def get(self, index):\n        return self.rows[index]\n" + TAIL,
    "json lines": dataset("self.rows = [json.loads(line) for line in open(path)]  # DLL302"),
    "json lines in a loop": dataset(
        "self.rows = []  # DLL302\nwith open(path) as f:\n    for line in f:\n"
        "        self.rows.append(json.loads(line))"
    ),
    "a filtered list": dataset("data = json.load(open(path))\nself.rows = [x for x in data if x['ok']]  # DLL302"),
    "new dicts": dataset("data = json.load(open(path))\nself.rows = [{'text': x['t']} for x in data]  # DLL302"),
    "rows of a path and a text that is gone through": dataset(
        "self.rows = [line.split('|') for line in open(path)]  # DLL302",
        extra="\n    def __len__(self):\n        return len(self.rows)\n\n    def __getitem__(self, index):\n"
        "        name, text = self.rows[index]\n        return self.sound(name), self.numbers(text)\n\n"
        "    def sound(self, name):\n        return np.load(name)\n\n"
        "    def numbers(self, text):\n        return [NUMBERS[letter] for letter in text]\n",
    ),
    "tuples of strings": dataset("self.rows = [tuple(line.split()) for line in open(path)]  # DLL302"),
    "csv rows": dataset("with open(path) as f:\n    self.rows = list(csv.DictReader(f))  # DLL302"),
    "columns of the rows": dataset("self.rows, self.others = zip(*json.load(open(path)))  # DLL302"),
    "columns put together again": dataset(
        "texts, others = list(zip(*json.load(open(path))))\nself.rows = []  # DLL302\n"
        "self.rows += list(zip(texts, others))"
    ),
    "csv rows in a loop": dataset(
        "self.rows = []  # DLL302\nfor row in csv.reader(open(path)):\n    self.rows.append(row)"
    ),
    "a list of numbers a line": dataset(
        "self.rows = {}  # DLL302\nfor line in open(path).readlines():\n    line = line.strip().split(' ')\n"
        "    self.rows[line[0]] = [int(part) for part in line[1:]]",
        extra=READ.replace("self.rows[index]", "self.rows[str(index)]"),
    ),
    "rows of a filtered table": dataset(
        "table = pd.read_csv(path)\ntable = table[table['split'] == 'train'].reset_index(drop=True)\n"
        "self.rows = []  # DLL302\nfor _, row in table.iterrows():\n"
        "    self.rows.append({'text': row['text'], 'label': row['label']})",
        before="import pandas as pd\n",
    ),
    "rows of tables joined": dataset(
        "table = pd.concat([pd.read_csv(one) for one in path]).dropna()\n"
        "self.rows = [(row.text, row.label) for row in table.itertuples()]  # DLL302",
        before="import pandas as pd\n",
    ),
    "columns zipped": dataset(
        "table = pd.read_csv(path, sep='\\t')\nself.rows = list(zip(table['text'], table['label']))  # DLL302",
        before="import pandas as pd\n",
    ),
    "rows by their number": dataset(
        "table = pd.read_csv(path)\nself.rows = []  # DLL302\nfor i in range(len(table)):\n"
        "    self.rows.append((table.iloc[i]['text'], table.loc[i, 'label']))",
        before="import pandas as pd\n",
    ),
    "a sorted table as dicts": dataset(
        "self.rows = pd.read_csv(path).sort_values(by='length').to_dict('records')  # DLL302",
        before="import pandas as pd\n",
    ),
    "readlines": dataset("self.rows = open(path).readlines()  # DLL302"),
    "split text": dataset("self.rows = open(path).read().strip().split('\\n')  # DLL302"),
    "a helper of the class": dataset(
        "self.load(path)",
        extra=READ + "\n    def load(self, path):\n        self.rows = json.load(open(path))  # DLL302\n",
    ),
    "a helper that returns a list": dataset(
        "self.rows = read(path)  # DLL302",
        before="def read(path):\n    found = []\n    for line in open(path):\n        found.append(line.split('|'))\n"
        "    return found\n",
    ),
    "sorted": dataset("self.rows = sorted(json.load(open(path)), key=len)  # DLL302"),
    "a dict by the key of an item": dataset(
        "self.keys = sorted(os.listdir(path))\nself.rows = json.load(open('all.json'))  # DLL302",
        extra="\n    def __len__(self):\n        return len(self.keys)\n\n"
        "    def __getitem__(self, index):\n        return self.rows[self.keys[index]]\n",
    ),
    "through a method": dataset(
        "self.rows = json.load(open(path))  # DLL302",
        extra="\n    def row(self, number):\n        return self.rows[number]\n\n"
        "    def __getitem__(self, index):\n        return self.row(index % 100)\n",
    ),
    "a subset": dataset(
        "self.rows = json.load(open(path))  # DLL302",
        tail="\ndef build(path):\n    options = {'num_workers': 2}\n"
        "    return DataLoader(Subset(Rows(path), range(9)), **options)\n",
    ),
    "an iterable dataset": f"{HEAD}\nclass Rows(IterableDataset):\n    def __init__(self, path):\n"
    "        self.rows = json.load(open(path))  # DLL302\n\n    def __iter__(self):\n"
    f"        for row in self.rows:\n            yield row\n{TAIL}",
    "records that a function makes of what was read": dataset(
        "self.rows = [make(one) for one in json.load(open(path))['images']]  # DLL302",
        before="def make(one):\n    return {'id': one['id'], 'boxes': [box['bbox'] for box in one['boxes']]}\n",
    ),
    "records that a method makes of some": dataset(
        "self.rows = []  # DLL302\nfor line in open(path):\n    row = self.parsed(line)\n    if row is not None:\n"
        "        self.rows.append(row)",
        extra=READ + "\n    @staticmethod\n    def parsed(line):\n        if not line:\n            return None\n"
        "        text = line.strip()\n        return text, len(text)\n",
    ),
    "dicts that are filled key by key": dataset(
        "self.rows = []  # DLL302\nfor one in json.load(open(path)):\n    row = dict()\n    row['text'] = one['text']\n"
        "    self.rows.append(row)",
    ),
    "dicts in a dict, filled in nested loops": dataset(
        "self.rows = {}  # DLL302\nfor split in ('a', 'b'):\n    self.rows[split] = {}\n    for line in open(path):\n"
        "        key, text = line.split()\n        self.rows[split][key] = text",
        extra=READ.replace("self.rows[index]", "self.rows['a'][str(index)]"),
    ),
    "lists in a dict that setdefault fills": dataset(
        "self.rows = {}  # DLL302\nfor one in json.load(open(path)):\n"
        "    self.rows.setdefault(one['split'], []).append(one)\nself.split = 'train'",
        extra=READ.replace("return self.rows[index]", "rows = self.rows[self.split]\n        return rows[index]"),
    ),
    "parts of rows that are set later": dataset(
        "self.rows = [[0, 0, None] for _ in range(10)]  # DLL302\nfor number, line in enumerate(open(path)):\n"
        "    self.rows[number][2] = json.loads(line)",
    ),
    "records that an object holds": dataset(
        "self.store = Store(path)",
        before="class Store:\n    def __init__(self, path):\n        self.records = json.load(open(path))  # DLL302\n\n"
        "    def get(self, number):\n        return self.records[number]\n",
        extra="\n    def __getitem__(self, index):\n        return self.store.get(index)\n",
    ),
    "records that an object of an object holds": dataset(
        "self.source = Source(Store(path))",
        before="class Base:\n    def __init__(self, path):\n        with open(path) as f:\n"
        "            self.records = [json.loads(line) for line in f]  # DLL302\n\n"
        "class Store(Base):\n    def __getitem__(self, number):\n        return self.records[number]\n\n"
        "class Source:\n    def __init__(self, store):\n        self.store = store\n\n"
        "    def item(self, at):\n        return self.store[at]\n",
        extra="\n    def __getitem__(self, index):\n        return self.source.item(index)\n",
    ),
    "records of several that a helper reads": dataset(
        "self.rows, self.labels = read(path)  # DLL302",
        before="def read(path):\n    with open(path, 'rb') as f:\n        rows, labels = pickle.load(f)\n"
        "    return rows, labels\n",
        extra="\n    def __getitem__(self, index):\n        return self.rows[index]['pose'], self.labels[index]\n",
    ),
    "records behind an index that is searched for": dataset(
        "groups = pickle.load(open(path, 'rb'))\nself.ends = [9]\n"
        "self.rows = [one for one in groups if len(one) > 2]  # DLL302",
        before="from bisect import bisect\n",
        extra=READ.replace("self.rows[index]", "self.rows[bisect(self.ends, index)][0]"),
    ),
    "records behind an index of numpy": dataset(
        "self.ends = np.array([9])\nself.rows = json.load(open(path))  # DLL302",
        before="import numpy as np\n",
        extra=READ.replace(
            "return self.rows[index]",
            "at = int(np.searchsorted(self.ends, index, side='right'))\n        return self.rows[at]",
        ),
    ),
    "records behind an index of a method": dataset(
        "self.rows = json.load(open(path))  # DLL302",
        extra=READ.replace("return self.rows[index]", "return self.rows[min(self.ends.searchsorted(index), 7)]"),
    ),
    "pickled records": dataset(
        "self.rows = pickle.load(open(path, 'rb'))  # DLL302",
        extra="\n    def __getitem__(self, index):\n        row = self.rows[index]\n        return row['pose']\n",
    ),
    "pickled lists, which workers make longer": dataset(
        "self.rows = pickle.load(open(path, 'rb'))  # DLL302",
        extra=READ.replace("return self.rows[index]", "return self.rows[index] + [0] * (9 - len(self.rows[index]))"),
    ),
    "pickled lists between two tokens": dataset(
        "self.rows = pickle.load(open(path, 'rb'))  # DLL302",
        extra=READ.replace("return self.rows[index]", "row = self.rows[index]\n        return [1] + row + [2]"),
    ),
    "pickled lists that a helper makes longer": dataset(
        "self.rows = pickle.load(open(path, 'rb'))[1:]  # DLL302",
        extra=READ.replace("return self.rows[index]", "row = self.rows[index]\n        return self.padded(row)")
        + "\n    def padded(self, row):\n        row += [0] * (9 - len(row))\n        return row\n",
    ),
    "pickled texts": dataset(
        "self.rows = pickle.load(open(path, 'rb'))  # DLL302",
        extra=READ.replace("return self.rows[index]", "return self.rows[index].lower().split(' ')"),
    ),
    "a pickled dict of histories, by a field of the item, in an object of the dataset": dataset(
        "self.store = Store(path)",
        before="import numpy as np\n\nclass Store:\n    def __init__(self, path):\n"
        "        self.rows = np.load('rows.npy')\n"
        "        self.users = pickle.load(open(path, 'rb'))  # DLL302\n\n"
        "    def get(self, number):\n        row = self.rows[number]\n        user = int(row['user'])\n"
        "        return self.past(user, int(row['end']))\n\n"
        "    def past(self, user, end):\n        items = self.users[user]['items'][:end][-9:]\n"
        "        items += [0] * (9 - len(items))\n"
        "        return list(zip(items, self.users[user]['times'][:end]))\n",
        extra="\n    def __getitem__(self, index):\n        return self.store.get(index)\n",
    ),
    "many dicts": dataset("self.rows = [{'number': i} for i in range(1_000_000)]  # DLL302"),
    "many numbers as strings": dataset("self.rows = [str(i) for i in range(1 << 22)]  # DLL302"),
    "many padded strings": dataset("self.rows = [str(i).zfill(1024) for i in range(1 << 18)]  # DLL302"),
    "many joined strings": dataset("self.rows = ['row ' + str(i) for i in range(1 << 22)]  # DLL302"),
    "many formatted strings": dataset("self.rows = ['row %d' % i for i in range(1 << 22)]  # DLL302"),
    "many strings": dataset("self.rows = [f'row {i}' for i in range(1 << 21)]  # DLL302"),
    "a dictionary of words inside, whose length is not that of the dataset": dataset(
        "self.rows = numpy.load(path)\nself.words = Words('words.txt')",
        before="import numpy\n\ndef parse(file):\n    found = {}\n    for line in file:\n"
        "        parts = line.split('  ')\n        found[parts[0]] = [parts[1]]\n    return found\n\n"
        "class Words:\n    def __init__(self, path):\n        with open(path) as file:\n"
        "            entries = parse(file)\n"
        "        self.entries = entries  # DLL302\n\n    def __len__(self):\n        return len(self.entries)\n\n"
        "    def find(self, word):\n        return self.entries.get(word.upper())\n",
        extra=READ.replace("self.rows[index]", "[self.words.find(word) for word in str(self.rows[index]).split(' ')]"),
    ),
    "an object inside, whose length is that of the dataset": dataset(
        "self.rows = Reader(path)",
        before="class Reader:\n    def __init__(self, path):\n        self.names = json.load(open(path))  # DLL302\n\n"
        "    def __len__(self):\n        return len(self.names)\n\n"
        "    def __getitem__(self, index):\n        return open(sorted(self.names)[index]).read()\n",
    ),
    "COCO": dataset(
        "self.rows = COCO(path)  # DLL302",
        before="from pycocotools.coco import COCO\n",
        extra="\n    def __getitem__(self, index):\n        return self.rows.loadAnns(index)\n",
    ),
}

SILENT: dict[str, str] = {
    "a table of kinds, whose length is not that of the dataset": dataset(
        "self.rows = numpy.load(path)\nself.kinds = Kinds(json.load(open('kinds.json'))['kinds'])",
        before="import numpy\n\nclass Kinds:\n    def __init__(self, names):\n        self.names = names\n\n"
        "    def __len__(self):\n        return len(self.names)\n\n"
        "    def number(self, name):\n        return self.names.index(name)\n",
        extra=READ.replace("self.rows[index]", "self.kinds.number(self.rows[index]), len(self.kinds)"),
    ),
    "records of paths alone": dataset(
        "self.rows = json.load(open(path))['train']",
        extra=READ.replace(
            "return self.rows[index]",
            "one, two, three, four = self.rows[index]\n"
            "        return [open(os.path.join('a', name)).read() for name in (two,)], open(os.path.join('a', one)), "
            "open(os.path.join('a', three)), open(os.path.join('b', four)), one.split('/')[-1]",
        )
        .replace("for name in (two,)", "for _ in (1,)")
        .replace("'a', name", "'a', two"),
    ),
    "a dict of settings": dataset("self.rows = path.settings.to_dict()"),
    "columns that become arrays": dataset(
        "self.rows = columns(pandas.read_csv(path))",
        before="import numpy\nimport pandas\n\ndef columns(table):\n    found = table.to_dict('list')\n"
        "    for key in table.keys():\n        found[key] = numpy.array(found[key])\n    return found\n",
        extra=READ.replace("self.rows[index]", "{key: column[index] for key, column in self.rows.items()}"),
    ),
    "records of labels looked up by a field of an item": dataset(
        "self.rows = path\nself.labels = json.load(open('labels.json'))",
        extra=READ.replace("self.rows[index]", "self.labels[self.rows[index]['label']]['name']"),
    ),
    "pairs of a path and a number": dataset(
        "self.paths = path\nself.rows = []\n"
        "for name in path:\n    size = numpy.load(name).shape[0]\n"
        "    self.rows.extend(zip([name] * size, range(size)))",
        before="import numpy\n",
        extra=PAIRS,
    ),
    "a few pairs of numbers": dataset(
        "self.paths = path\nself.rows = []\nself.rows.extend(zip([1] * 9, range(9)))",
        before="import numpy\n",
        extra=PAIRS,
    ),
    "pairs below a number that someone chooses": dataset(
        "self.paths = path\nself.rows = []\nself.rows.extend(zip([1] * self.paths.size, range(self.paths.size)))",
        before="import numpy\n",
        extra=PAIRS,
    ),
    "paths that a method with packed arguments opens": dataset(
        "self.rows = [line.split(' ')[0] for line in open(path).read().splitlines()]",
        extra=OPENED,
        tail=TAIL.replace("Rows", "Packed"),
    ),
    "a list that becomes an array": dataset(
        "self.rows = []\nfor name in os.listdir(path):\n    self.rows.extend(json.load(open(name)))\n"
        "self.rows = numpy.asarray(self.rows)",
        before="import numpy\n",
    ),
    "a list that becomes an array by another name": dataset(
        "self.rows = []\nfor name in os.listdir(path):\n    self.rows.extend(json.load(open(name)))\n"
        "self.rows = made(self.rows)",
        before="from numpy import asarray as made\n",
    ),
    "entries that become arrays": dataset(
        "self.rows = {'one': []}\nfor key in self.rows:\n    self.rows[key].extend(json.load(open(path)))\n"
        "for key in self.rows:\n    self.rows[key] = numpy.array(self.rows[key])",
        before="import numpy\n",
        extra=READ.replace("self.rows[index]", "self.rows['one'][index]"),
    ),
    "rows under keys that the object keeps, a path and a number": dataset(
        "self.image, self.number = path\nself.rows = []\nfor _, row in pandas.read_csv(path).iterrows():\n"
        "    self.rows.append({self.image: row[self.image], self.number: row[self.number]})",
        before="import pandas\n",
        extra="\n    def __getitem__(self, index):\n        row = self.rows[index]\n"
        "        return open(row[self.image]), int(row[self.number])\n",
    ),
    "lines of a path and its class": dataset(
        "self.rows = [line.strip().split('|') for line in open(path)]",
        extra="\n    def __getitem__(self, index):\n        wave_path, label = self.rows[index]\n"
        "        return open(wave_path), int(label)\n",
    ),
    "a table of which an iterable dataset picks one at random": dataset(
        "self.paths = path\nself.noises = [line.strip() for line in open(path)]",
        before="import random\n",
        extra="\n    def __iter__(self):\n        for one in self.paths:\n"
        "            number = random.randint(0, len(self.noises) - 1)\n"
        "            yield one, self.noises[number]\n",
    ).replace("Rows(Dataset)", "Rows(IterableDataset)"),
    "names of classes that an iterable dataset looks up": dataset(
        "self.paths = path\nself.names = [line.strip() for line in open(path)]",
        extra="\n    def __iter__(self):\n        for one, label in self.paths:\n"
        "            yield one, self.names[label]\n",
    ).replace("Rows(Dataset)", "Rows(IterableDataset)"),
    "rows of paths that a loop opens": dataset(
        "self.rows = [line.split('|') for line in open(path)]",
        extra="\n    def __getitem__(self, index):\n        files = []\n        for one in self.rows[index]:\n"
        "            files.append(open(one))\n        return files\n",
    ),
    "a name of a class picked at random": dataset(
        "self.rows = [line.strip() for line in open(path)]",
        before="import random\n",
        extra="\n    def __getitem__(self, index):\n        return self.rows[random.randint(0, 9)]\n",
    ),
    "numbers picked at random": dataset(
        "self.rows = pickle.load(open(path, 'rb'))",
        before="import random\n",
        extra="\n    def __getitem__(self, index):\n        place = random.randint(0, 9)\n"
        "        return self.rows[place] * 2\n",
    ),
    "lines that a folder is put before": dataset(
        "self.rows = [line.strip() for line in open(path)]",
        extra=READ.replace("return self.rows[index]", "return decode('my data/' + self.rows[index])"),
    ),
    "paths that a table's column is turned into": dataset(
        "table = pd.read_csv(path)\nself.rows = list(table[0].apply(lambda name: os.path.join('a', name)))",
        before="import pandas as pd\n",
        extra=READ.replace("return self.rows[index]", "row = self.rows[index]\n        return row.split('/')[-1]"),
    ),
    "labels beside arrays": dataset(
        "self.rows = {}\nself.names = []\nfor name in os.listdir(path):\n"
        "    self.rows[name] = {'frames': np.load(name), 'label': 1}\n    self.names.append(name)",
        before="import numpy as np\n",
        extra=READ.replace(
            "return self.rows[index]", "row = self.rows[self.names[index]]\n        return row['frames'], row['label']"
        ),
    ),
    "numbers zipped with lines": dataset(
        "texts = [line.strip() for line in open(path)]\nself.rows = []\n"
        "for number, (place, text) in enumerate(zip(np.load(path), texts)):\n    self.rows.append(place)",
        before="import numpy as np\n",
    ),
    "a list that takes over numbers": dataset(
        "self.rows = [*range(10 ** 6), *np.load(path)]", before="import numpy as np\n"
    ),
    "loaded when an item is asked for": dataset(
        "self.path = path",
        extra=READ.replace("return len(self.rows)", "return 9").replace(
            "return self", "self.load()\n        return self"
        )
        + "\n    def load(self):\n        if not hasattr(self, 'rows'):\n"
        "            self.rows = json.load(open(self.path))\n",
    ),
    "loaded to tell the length of a stream": dataset(
        "self.path = path",
        extra="\n    def __len__(self):\n        self.rows = json.load(open(self.path))\n        return 9\n"
        "\n    def __iter__(self):\n        for row in self.rows:\n            yield row\n",
    ).replace("(Dataset)", "(IterableDataset)"),
    "a method that no one calls": dataset(
        "self.rows = []", extra=READ + "\n    def populate(self, path):\n        self.rows = json.load(open(path))\n"
    ),
    "a method of another object": dataset(
        "self.rows = []",
        extra=READ + "\n    def populate(self, path):\n        self.rows = json.load(open(path))\n",
        before="\nclass Table:\n    def populate(self, path):\n        return path\n",
        tail="\ndef build(path):\n    Table().populate(path)\n    return DataLoader(Rows(path), num_workers=4)\n",
    ),
    "numbers added by a list of one": dataset(
        "self.rows = []\nfor row in json.load(open(path)):\n    self.rows += [len(row['caption'])]",
    ),
    "a dataset of the hub": dataset(
        "self.rows = load_dataset('squad', split='train')", before="from datasets import load_dataset\n"
    ),
    "a split of the hub": dataset(
        "self.rows = load_dataset('squad')['train']", before="from datasets import load_dataset\n"
    ),
    "a default dict that counts": dataset(
        "self.rows = defaultdict(int)\nfor row in json.load(open(path)):\n    self.rows[row['image']] += 1",
        before="from collections import defaultdict\n",
    ),
    "a method of that name that no base class runs": HEAD
    + "class Rows(Dataset):\n    def process(self, path):\n        self.rows = json.load(open(path))\n"
    + "\n    def __len__(self):\n        return 9\n\n    def __getitem__(self, index):\n        return index\n"
    "\n    def get(self, index):\n        return self.rows[index]\n" + TAIL,
    "a list of files": dataset("self.rows = sorted(os.listdir(path))"),
    "lines that become paths": dataset(
        "self.rows = open(path).read().splitlines()",
        extra="\n    def __getitem__(self, index):\n        return open(os.path.join('a', self.rows[index])).read()\n",
    ),
    "parts that become paths": dataset(
        "self.rows = [line.split() for line in open(path)]",
        extra="\n    def __getitem__(self, index):\n        name, label = self.rows[index]\n"
        "        return open(f'images/{name}.txt').read(), label\n",
    ),
    "rows of a number and files": dataset(
        "self.rows = [(line.split()[0], line.split()[1:]) for line in open(path)]",
        extra="\n    def __getitem__(self, index):\n        label, names = self.rows[index]\n"
        "        return [np.load(name) for name in names], int(label)\n",
    ),
    "lines that become paths in a method": dataset(
        "self.rows = open(path).read().splitlines()",
        extra="\n    def __getitem__(self, index):\n        return self.read(self.rows[index])\n"
        "\n    def read(self, name):\n        return read_bytes(name)\n",
        before="def read_bytes(name):\n    with open(name, 'rb') as f:\n        return f.read()\n",
    ),
    "rows of a table that become paths and numbers": dataset(
        "self.rows = [(row.name, row.label) for row in pd.read_csv(path).itertuples()]",
        before="import pandas as pd\n",
        extra="\n    def __getitem__(self, index):\n        name, label = self.rows[index]\n"
        "        return open(os.path.join('a', name)).read(), int(label)\n",
    ),
    "a column of a table": dataset("self.rows = pd.read_csv(path)['label'].tolist()", before="import pandas as pd\n"),
    "a cell of each row": dataset(
        "self.rows = [row['label'] for _, row in pd.read_csv(path).iterrows()]", before="import pandas as pd\n"
    ),
    "wide rows of numbers of a table": dataset(
        "self.rows = pd.read_csv(path).values",
        before="import pandas as pd\n",
        extra=CELLS.replace("open(os.path.join(video, name)).read()", "video + name"),
    ),
    "narrow rows of a table as an array": dataset(
        "self.rows = pd.read_csv(path).values",
        before="import pandas as pd\n",
        extra=CELLS.replace(", label, fold = ", ", *_ = ").replace(", label, fold", ""),
    ),
    "the values of a table": dataset("self.rows = pd.read_csv(path).dropna().values", before="import pandas as pd\n"),
    "joined paths": dataset("self.rows = [os.path.join('a', line.strip()) for line in open(path)]"),
    "numbers": dataset("self.rows = [int(line) for line in open(path)]"),
    "numbers of images that have annotations": dataset(
        "coco = COCO(path)\nself.rows = sorted(coco.imgToAnns.keys())", before="from pycocotools.coco import COCO\n"
    ),
    "numbers of a record": dataset("self.rows = [int(x['label']) for x in json.load(open(path))]"),
    "no workers": dataset(
        "self.rows = json.load(open(path))", tail="\ndef build(p):\n    return DataLoader(Rows(p))\n"
    ),
    "a number that a function makes of each record": dataset(
        "self.rows = [make(one) for one in json.load(open(path))]",
        before="def make(one):\n    label = int(one['label'])\n    return label + 1\n",
    ),
    "parts of rows that are set to numbers": dataset(
        "self.rows = [[0, None] for _ in range(10)]\nfor number, line in enumerate(open(path)):\n"
        "    self.rows[number][1] = float(line)",
    ),
    "a table of classes in a dict": dataset(
        "self.names = {}\nfor kind in ('a', 'b'):\n    self.names[kind] = json.load(open(kind))\n"
        "self.rows = sorted(os.listdir(path))",
        extra=READ.replace("return self.rows[index]", "return self.names['a'][self.label(self.rows[index])]")
        + "\n    def label(self, name):\n        return len(name)\n",
    ),
    "numbers of names, one of which is a constant": dataset(
        "self.names = tuple(os.listdir(path))\nself.numbers = json.load(open('numbers.json'))",
        extra=READ.replace(
            "return self.rows[index]",
            "name = self.names[index]\n        other = 'none'\n        return self.numbers[name], self.numbers[other]",
        ),
    ),
    "an empty list for each record": dataset("self.rows = [[] for line in open(path)]"),
    "units that each item goes through": UNITS,
    "units that each item goes through, in a method that returns it": UNITS.replace(
        "yield item\n\n", "return item\n\n"
    ).replace("for item in self.converted(items):\n                yield item", "yield self.converted(items)"),
    "settings that an object holds": dataset(
        "self.rows = sorted(os.listdir(path))\nself.store = Store(path)",
        before="class Store:\n    def __init__(self, path):\n        self.names = json.load(open(path))\n\n"
        "    def name(self, label):\n        return self.names[label]\n",
        extra="\n    def __getitem__(self, index):\n        return self.store.name(len(self.rows[index]))\n",
    ),
    "records of an object that workers do not ask": dataset(
        "self.rows = sorted(os.listdir(path))\nself.store = Store(path)",
        before="class Store:\n    def __init__(self, path):\n        self.names = json.load(open(path))\n\n"
        "    def get(self, number):\n        return self.names[number]\n",
    ),
    "records of an object that lets them go": dataset(
        "self.store = Store(path)",
        before="class Store:\n    def __init__(self, path):\n        self.names = json.load(open(path))\n"
        "        self.count = len(self.names)\n        self.names = None\n\n"
        "    def get(self, number):\n        return self.names[number]\n",
        extra="\n    def __getitem__(self, index):\n        return self.store.get(index)\n",
    ),
    "the second of what a pickle holds, which may be an array": dataset(
        "self.names, self.rows = pickle.load(open(path, 'rb'))"
    ),
    "a table behind a search for something else": dataset(
        "self.names = json.load(open('names.json'))\nself.rows = sorted(os.listdir(path))",
        before="from bisect import bisect\n",
        extra=READ.replace("return self.rows[index]", "return self.names[bisect([1, 2], len(self.rows))]"),
    ),
    "a table of classes": dataset(
        "self.names = json.load(open('names.json'))\nself.rows = sorted(os.listdir(path))",
        extra=READ.replace("return self.rows[index]", "return self.names[self.label(index)]")
        + "\n    def label(self, index):\n        return len(self.rows[index])\n",
    ),
    "the number of a line": dataset(
        "self.ids = {line.strip(): i for i, line in enumerate(open(path))}\nself.rows = sorted(os.listdir(path))",
        extra=READ.replace("self.rows[index]\n", "self.ids[self.rows[index]]\n"),
    ),
    "read and not kept": dataset("rows = json.load(open(path))\nself.count = len(rows)\nself.rows = range(self.count)"),
    "not read by workers": dataset(
        "self.rows = sorted(os.listdir(path))\nself.settings = json.load(open('settings.json'))",
    ),
    "a pickle that may be an array": dataset("self.rows = pickle.load(open(path, 'rb'))"),
    "a pickle that may be an array, to whose rows numbers are added": dataset(
        "self.rows = pickle.load(open(path, 'rb'))",
        extra=READ.replace("return self.rows[index]", "return self.rows[index] + [0.5, 0.5]"),
    ),
    "a pickled dict of the names of classes, by a field of the item": dataset(
        "self.store = Store(path)",
        before="import numpy as np\n\nclass Store:\n    def __init__(self, path):\n"
        "        self.rows = np.load('rows.npy')\n"
        "        self.classes = pickle.load(open(path, 'rb'))\n\n"
        "    def get(self, number):\n        row = self.rows[number]\n"
        "        return self.classes[int(row['class'])]['name']\n",
        extra="\n    def __getitem__(self, index):\n        return self.store.get(index)\n",
    ),
    "one string": dataset("self.rows = open(path).read()"),
    "packed": dataset(
        "self.rows = np.array([json.loads(line)['text'] for line in open(path)])", before="import numpy as np\n"
    ),
    "few padded strings": dataset("self.rows = [str(i).zfill(1024) for i in range(1000)]"),
    "many numbers": dataset("self.rows = [i + 1 for i in range(1 << 22)]"),
    "few dicts": dataset("self.rows = [{'number': i} for i in range(1000)]"),
    "not a loader's": dataset("self.rows = json.load(open(path))", tail="\ndef build(p):\n    return Rows(p)\n"),
}


@pytest.mark.parametrize("source", FOUND.values(), ids=FOUND.keys())
def test_found(findings: Callable[..., Any], marks: Callable[..., Any], source: str) -> None:
    files = {"data.py": source}

    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(findings: Callable[..., Any], source: str) -> None:
    assert findings({"data.py": source}, **SELECT) == set()


def test_the_reading_may_stand_in_another_file(told: Callable[..., Any]) -> None:
    files = {
        "reading.py": "import json\n\ndef read(path):\n    with open(path) as f:\n        return json.load(f)\n",
        "data.py": dataset("self.rows = read(path)", before="from reading import read\n"),
    }

    (finding,) = told(files, **SELECT)

    assert finding.severity == "info"
    assert [place.message for place in finding.related] == ["read here", "this DataLoader starts the workers"]
    assert "`Rows.rows` holds the Python objects from `json.load`" in finding.text


def test_what_is_known_in_size_is_a_warning_with_the_sum(told: Callable[..., Any]) -> None:
    source = dataset("self.rows = [{'number': i} for i in range(1_000_000)]")

    (finding,) = told({"data.py": source}, **SELECT)

    assert finding.severity == "warning"
    assert "183 MiB × 4 workers = 732 MiB" in finding.text


def test_spawned_workers_have_it_all_from_the_start(told: Callable[..., Any]) -> None:
    source = dataset("self.rows = json.load(open(path))").replace('"fork"', '"spawn"')

    (finding,) = told({"data.py": source}, **SELECT)

    assert finding.start_methods == ("spawn",)
    assert "Every worker started by spawn gets a copy" in finding.text


def test_a_getstate_that_drops_it_helps_where_workers_are_not_forked(told: Callable[..., Any]) -> None:
    drop = READ + "\n    def __getstate__(self):\n        return {**self.__dict__, 'rows': None}\n"
    source = dataset("self.rows = json.load(open(path))", extra=drop)

    assert len(told({"data.py": source}, **SELECT)) == 1
    assert told({"data.py": source.replace('"fork"', '"spawn"')}, **SELECT) == ()


FIELDS = """
    def __getitem__(self, index):
        return self.item(self.rows[index])

    def clip(self, name):
        return wave.read(name.replace(".mp3", ".wav"))
"""

FILE_LISTS: dict[str, tuple[str, int]] = {
    "fields by number": (
        "clip = row[0]\npitch = row[1]\nreturn self.clip(clip), np.load(pitch), int(row[2])",
        0,
    ),
    "unpacked": ("clip, pitch, speaker = row\npitch = np.load(pitch)\nreturn self.clip(clip), pitch, int(speaker)", 0),
    "put together": ("name, speaker = row\nreturn np.load(f'{self.root}/{name}.npy'), int(speaker)", 0),
    "a path that only names": ("name = row[0]\nreturn self.clip(name), os.path.basename(name)", 0),
    "a text among them": ("clip, text = row\nreturn self.clip(clip), encode(text)", 1),
    "a text by number": ("return self.clip(row[0]), self.tokens(row[1])", 1),
    "a text that is returned": ("clip, text = row\nreturn self.clip(clip), text", 1),
    "a row that is returned": ("return row", 1),
    "a row that is handed on": ("return work(row)", 1),
    "numbers alone": ("return int(row[0]), int(row[1])", 1),
}


@pytest.mark.parametrize(("item", "count"), FILE_LISTS.values(), ids=FILE_LISTS)
def test_rows_of_which_helpers_make_paths(item: str, count: int, told: Callable[..., Any]) -> None:
    body = "".join(f"        {line}\n" for line in item.splitlines())
    source = dataset(
        "self.rows = [line.strip().split('|') for line in open(path)]",
        before="import numpy as np\nimport wave\n",
        extra=f"{FIELDS}\n    def item(self, row):\n{body}",
    )

    assert len(told({"data.py": source}, **SELECT)) == count


def test_rows_that_are_put_together_are_kept(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    train = """
import json
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path, other):
        first = [json.loads(line) for line in open(path)]
        second = [json.loads(line) for line in open(other)]
        self.rows = first + second  # DLL302

    def __getitem__(self, index):
        return self.rows[index]

class Tensors(Dataset):
    def __init__(self, path):
        first = [torch.zeros(9) for line in open(path)]
        self.rows = first + [torch.zeros(3)]  # DLL303

    def __getitem__(self, index):
        return self.rows[index]

def main():
    DataLoader(Rows("train", "valid"), num_workers=4, multiprocessing_context="fork")
    DataLoader(Tensors("train"), num_workers=4, multiprocessing_context="spawn")
"""
    files = {"train.py": train}

    assert findings(files, select=["DLL302", "DLL303"]) == marks(files)


@pytest.mark.parametrize(("end", "count"), [("pass", 1), ("if flag:\n            del self.rows", 0)])
def test_records_that_may_be_let_go_are_no_info(end: str, count: int, told: Callable[..., Any]) -> None:
    source = f"""\
import json
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path, flag):
        self.rows = json.load(open(path))
        {end}

    def __getitem__(self, index):
        return self.rows[index]

def build(path, flag):
    return DataLoader(Rows(path, flag), num_workers=4, multiprocessing_context="spawn")
"""
    assert len(told({"data.py": source}, **SELECT)) == count


STORES = """\
import json
from torch.utils.data import DataLoader, Dataset

class Store:
    def __init__(self, path, size):
        self.path = path
        self.size = size

    def __getitem__(self, key):
        return key * self.size

class Rows(Dataset):
    def __init__(self, store):
        self.store = store

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return self.store[index]

def build(options, store, several):
    if several:
        return [Rows(one) for one, _ in zip(store, options)]
    return [Rows(store)]

def main(path, several):
    options = json.load(open(path))
    for rows in options["rows"]:
        if "several" in rows:
            store = [Store(one, options["size"]) for one in rows["paths"]]
        else:
            store = Store(rows["path"], 3)
        for dataset in build(options, store, several):
            DataLoader(dataset, num_workers=4)
"""


def test_a_store_of_the_project_is_no_collection(findings: Callable[..., Any]) -> None:
    assert findings({"data.py": STORES}, select=["DLL302"]) == set()


def test_tables_of_polars_in_a_dict_are_no_python_objects(findings: Callable[..., Any]) -> None:
    text = """\
import polars
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path, names):
        self.path = path
        self.tables = {name: dict() for name in names}
        self.load("train", 0)

    def load(self, name, index):
        table = polars.read_parquet(self.path).sort("x")
        if name:
            table = table.group_by("x").agg([polars.col("y")])
        self.tables[name][index] = table.sort("x")

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.tables["train"][0].select(["x"])

def build(path):
    return DataLoader(Rows(path, ["train"]), num_workers=4, multiprocessing_context="spawn")
"""
    assert findings({"data.py": text}, select=["DLL302"]) == set()


RESTORED = """
from importlib import import_module

import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, paths, size=1):
        self.index = []
        for path in paths:
            self.index.extend((path, i) for i in range(size))

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        return self.index[i]

def restored(path):
    state = torch.load(path)
    module, _, name = state["class"].rpartition(".")
    return {maker}(state["arguments"], 3)

def load(path):
    return DataLoader(restored(path), num_workers=4)
"""


@pytest.mark.parametrize(
    ("maker", "found"),
    [("Rows", {"DLL302"}), ("getattr(import_module(module), name)", set())],
    ids=["its class", "any"],
)
def test_what_an_unknown_class_is_given_is_not_what_a_dataset_holds(
    maker: str, found: set[str], told: Callable[..., Any]
) -> None:
    assert {one.code for one in told({"data.py": RESTORED.replace("{maker}", maker)}, **SELECT)} == found
