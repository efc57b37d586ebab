"""What else decides about pods at creation, by code that is not here: webhooks and admission policies."""

from __future__ import annotations

from msgspec import field

from kubespread.kube.api.meta import ApiObject, KubeObject, LabelSelector


class RuleWithOperations(KubeObject):
    operations: list[str] = field(default_factory=list)
    api_groups: list[str] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)

    @property
    def takes_new_pods(self) -> bool:
        return bool(
            {"*", "CREATE"}.intersection(self.operations)
            and {"*", ""}.intersection(self.api_groups)
            and {"*", "*/*", "pods"}.intersection(self.resources)
        )


class Webhook(KubeObject):
    name: str = ""
    rules: list[RuleWithOperations] = field(default_factory=list)
    namespace_selector: LabelSelector | None = None


class _WebhookConfiguration(ApiObject):
    webhooks: list[Webhook] = field(default_factory=list)


class MutatingWebhookConfiguration(_WebhookConfiguration):
    pass


class ValidatingWebhookConfiguration(_WebhookConfiguration):
    pass


class MatchResources(KubeObject):
    resource_rules: list[RuleWithOperations] = field(default_factory=list)
    namespace_selector: LabelSelector | None = None


class AdmissionPolicySpec(KubeObject):
    match_constraints: MatchResources = field(default_factory=MatchResources)


class _AdmissionPolicy(ApiObject):
    spec: AdmissionPolicySpec = field(default_factory=AdmissionPolicySpec)


class MutatingAdmissionPolicy(_AdmissionPolicy):
    pass


class ValidatingAdmissionPolicy(_AdmissionPolicy):
    pass
