"""Abstract values: what the analyzer knows about an object that an expression may stand for.

Values are parts of the keys of all questions that are kept. For those that are met most often, there is one object for
equal parts, so that they are compared and hashed by identity. A file keeps those that belong to it, and an External,
which belongs to no file, those made of it: they live as long as what they are made of.
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
from dllint.inference.values.externals import External as External
from dllint.inference.values.externals import Module as Module
from dllint.inference.values.frames import Actual as Actual
from dllint.inference.values.frames import Actuals as Actuals
from dllint.inference.values.frames import Frame as Frame
from dllint.inference.values.frames import Site as Site
from dllint.inference.values.functions import Function as Function
from dllint.inference.values.instances import Instance as Instance
from dllint.inference.values.partials import Partial as Partial
