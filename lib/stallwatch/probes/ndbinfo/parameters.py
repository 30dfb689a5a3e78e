"""What data nodes are configured with."""

from __future__ import annotations

from stallwatch.probes.ndbinfo.numbers import whole
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.probes.ndbinfo.asking import Ndbinfo

# Numbers of parameters in ndbinfo.config_params: CFG_DB_... of mgmapi_config_parameters.h.
NO_OF_REPLICAS, ARBITRATION, DISK_PAGE_BUFFER_MEMORY = 101, 142, 160
_VALUES = "SELECT node_id, config_value FROM ndbinfo.config_values WHERE config_param = %s"


def configured(ndbinfo: Ndbinfo, parameter: int) -> dict[int, str]:
    """Ask what each node that answers has a parameter set to; the table is of 7.5.0 and later."""
    return {whole(row, "node_id"): str(row["config_value"]) for row in ndbinfo.rows(_VALUES, parameter)}
