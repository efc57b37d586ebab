"""The arguments of DynamicResources.

Source of the rules: kube-scheduler 1.36, apis/config/validation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubespread.kube.durations import SECOND, in_json, nanoseconds
from kubespread.kube.validation.faults import FieldFault, forbidden, invalid
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.specification import Args


class DynamicResourcesArgs(Args):
    filter_timeout: str | None = None
    binding_timeout: str | None = None

    @property
    def durations(self) -> Mapping[str, str | None]:
        return {"filterTimeout": self.filter_timeout, "bindingTimeout": self.binding_timeout}

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        if self.filter_timeout is not None:
            if not version.has("DRASchedulerFilterTimeout"):
                yield forbidden(f"{path}.filterTimeout", "DRASchedulingFilterTimeout feature gate is disabled")
            elif nanoseconds(self.filter_timeout) < 0:
                yield invalid(f"{path}.filterTimeout", in_json(self.filter_timeout), "must be zero or positive")
        if self.binding_timeout is not None:
            # The other gate of the text is on wherever this one can be.
            if not version.has("DRADeviceBindingConditions"):
                detail = "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"
                yield forbidden(f"{path}.bindingTimeout", detail)
            elif nanoseconds(self.binding_timeout) < SECOND:
                yield invalid(f"{path}.bindingTimeout", in_json(self.binding_timeout), "must be at least 1 second")
