"""Abstract values: what the analyzer knows about the objects that an expression may evaluate to.

Values are parts of the keys of all memo tables. The most frequent ones are interned, one object for equal parts, so
that they are compared and hashed by identity. A file stores those that belong to it; an External, which belongs to no
file, stores its own instance: each lives as long as its parts.
"""

from dllint.inference.values.base import CHOSEN as CHOSEN
from dllint.inference.values.base import UNKNOWN as UNKNOWN
from dllint.inference.values.base import Unknown as Unknown
from dllint.inference.values.base import Value as Value
from dllint.inference.values.base import Values as Values
from dllint.inference.values.classes import Class as Class
from dllint.inference.values.classes import Super as Super
from dllint.inference.values.configuration import Data as Data
from dllint.inference.values.configuration import Parsed as Parsed
from dllint.inference.values.constants import NONE as NONE
from dllint.inference.values.constants import Const as Const
from dllint.inference.values.constants import Pattern as Pattern
from dllint.inference.values.constants import const as const
from dllint.inference.values.constants import constant as constant
from dllint.inference.values.containers import Display as Display
from dllint.inference.values.containers import Keywords as Keywords
from dllint.inference.values.containers import Mapping as Mapping
from dllint.inference.values.containers import Written as Written
from dllint.inference.values.externals import COLUMN_MARK as COLUMN_MARK
from dllint.inference.values.externals import PICK_MARK as PICK_MARK
from dllint.inference.values.externals import External as External
from dllint.inference.values.externals import Module as Module
from dllint.inference.values.frames import Actual as Actual
from dllint.inference.values.frames import Actuals as Actuals
from dllint.inference.values.frames import Frame as Frame
from dllint.inference.values.frames import Site as Site
from dllint.inference.values.functions import Function as Function
from dllint.inference.values.instances import Instance as Instance
from dllint.inference.values.partials import Partial as Partial
