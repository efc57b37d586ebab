"""Feature gates of the components that affect neither the placement of pods nor what is read of them.

Source of the list: the gate tables of the releases up to 1.37. Setting one of them is accepted and changes no answer.
"""

from __future__ import annotations

from collections.abc import Mapping

UNRELATED_GATES = frozenset(
    {
        "APIResponseCompression", "APIServerIdentity", "APIServerTracing", "APIServingWithRoutine",
        "AggregatedDiscoveryRemoveBetaType", "AllowDNSOnlyNodeCSR", "AllowInsecureKubeletCertificateSigningRequests",
        "AllowOverwriteTerminationGracePeriodSeconds", "AllowParsingUserUIDFromCertAuth",
        "AllowUnsafeMalformedObjectDeletion", "AnonymousAuthConfigurableEndpoints", "AppArmor", "AppArmorFields",
        "AtomicFIFO", "AtomicWriteVolumeUserFields", "AuthorizeNodeWithSelectors",
        "AuthorizePodWebsocketUpgradeCreatePermission", "AuthorizeWithSelectors", "BtreeWatchCache",
        "CBORServingAndStorage", "CPUManager", "CPUManagerPolicyAlphaOptions", "CPUManagerPolicyBetaOptions",
        "CPUManagerPolicyOptions", "CRDObservedGenerationTracking", "CRDValidationRatcheting", "CSIMigrationPortworx",
        "CSIServiceAccountTokenSecrets", "CSIVolumeHealth", "ChangeContainerStatusOnKubeletRestart",
        "ClientsAllowCBOR", "ClientsPreferCBOR", "CloudControllerManagerWatchBasedRoutesReconciliation",
        "CloudControllerManagerWebhook", "ClusterTrustBundle", "ClusterTrustBundleProjection", "ComponentFlagz",
        "ComponentSLIs", "ComponentStatusz", "ConcurrentWatchObjectDecode", "ConsistentListFromCache",
        "ConstrainedImpersonation", "ContainerCheckpoint", "ContainerStopSignals", "ContextualLogging",
        "CoordinatedLeaderElection", "CronJobsScheduledAnnotation", "CrossNamespaceVolumeDataSource",
        "CustomCPUCFSQuotaPeriod", "CustomResourceFieldSelectors", "DeclarativeValidation",
        "DeclarativeValidationTakeover", "DeploymentReplicaSetTerminatingReplicas", "DetectCacheInconsistency",
        "DevicePluginCDIDevices", "DisableAllocatorDualWrite", "DisableCPUQuotaWithExclusiveCPUs",
        "DisableNodeKubeProxyVersion", "ElasticIndexedJob", "EmptyDirVolumeMode", "EnvFiles", "EventedPLEG",
        "EvictionRequestAPI", "ExecProbeTimeout", "ExternalServiceAccountTokenSigner", "GRPCContainerProbeTLS",
        "GitRepoVolumeDriver", "GracefulNodeShutdown", "GracefulNodeShutdownBasedOnPodPriority", "H2CContainerProbe",
        "HPAConfigurableTolerance", "HPAContainerMetrics", "HPAGeneration", "HPAOptimizedSelectorStore",
        "HPAScaleToZero", "HonorPVReclaimPolicy", "HostnameOverride", "ImageMaximumGCAge", "ImageVolumeWithDigest",
        "InOrderInformers", "InPlacePodVerticalScalingAllocatedStatus", "InPlacePodVerticalScalingExclusiveCPUs",
        "InPlacePodVerticalScalingExclusiveMemory", "InTreePluginPortworxUnregister", "InformerResourceVersion",
        "JobBackoffLimitPerIndex", "JobManagedBy", "JobPodReplacementPolicy", "JobSuccessPolicy", "KMSv1",
        "KubeletCgroupDriverFromCRI", "KubeletCrashLoopBackOffMax", "KubeletEnsureSecretPulledImages",
        "KubeletFineGrainedAuthz", "KubeletInUserNamespace", "KubeletPSI", "KubeletPodResourcesDynamicResources",
        "KubeletPodResourcesGet", "KubeletPodResourcesListUseActivePods", "KubeletRegistrationGetOnExistsOnly",
        "KubeletSeparateDiskGC", "KubeletServiceAccountTokenForCredentialProviders", "KubeletTracing",
        "ListFromCacheSnapshot", "LocalStorageCapacityIsolationFSQuotaMonitoring", "LogarithmicScaleDown",
        "LoggingAlphaOptions", "LoggingBetaOptions", "MemoryManager", "MemoryQoS", "MultiCIDRServiceAllocator",
        "MutablePodResourcesForSuspendedJobs", "MutableSchedulingDirectivesForSuspendedJobs",
        "MutatingAdmissionPolicy", "NFTablesProxyMode", "NodeControllerLeaseCircuitBreaker", "NodeLifecycleConditions",
        "NodeLogQuery", "NodeSwap", "OpenAPIEnums", "OrderedNamespaceDeletion", "PersistentVolumeClaimUnusedSinceTime",
        "PodAndContainerStatsFromCRI", "PodCertificateRequest", "PodDeletionCost", "PodLifecycleSleepAction",
        "PodLifecycleSleepActionAllowZero", "PodLogsQuerySplitStreams", "PodObservedGenerationTracking",
        "PodReadyToStartContainersCondition", "PortForwardWebsockets", "PreferSameTrafficDistribution",
        "PreventStaticPodAPIReferences", "ProcMountType", "QOSReserved", "RecoverVolumeExpansionFailure",
        "RecursiveReadOnlyMounts", "ReduceDefaultCrashLoopBackOffDecay", "RelaxedDNSSearchValidation",
        "RelaxedEnvironmentVariableValidation", "RelaxedServiceNameValidation", "ReloadKubeletServerCertificateFile",
        "RemoteRequestHeaderUID", "ResilientWatchCacheInitialization", "ResourceHealthStatus", "RetryGenerateName",
        "RotateKubeletServerCertificate", "RuntimeClassInImageCriApi", "SELinuxChangePolicy", "SELinuxMount",
        "SELinuxMountReadWriteOncePod", "SeparateCacheWatchRPC", "SeparateTaintEvictionController",
        "ServiceAccountNodeAudienceRestriction", "ServiceAccountTokenJTI", "ServiceAccountTokenNodeBinding",
        "ServiceAccountTokenNodeBindingValidation", "ServiceAccountTokenPodNodeInfo", "ServiceTrafficDistribution",
        "SizeBasedListCostEstimate", "StaleControllerConsistencyHPA", "StatefulSetRecreateStrategy",
        "StatefulSetSemanticRevisionComparison", "StorageNamespaceIndex", "StorageVersionAPI", "StorageVersionHash",
        "StorageVersionMigrator", "StreamingCollectionEncodingToJSON", "StreamingCollectionEncodingToProtobuf",
        "StrictIPCIDRValidation", "StructuredAuthenticationConfiguration",
        "StructuredAuthenticationConfigurationEgressSelector", "StructuredAuthenticationConfigurationJWKSMetrics",
        "StructuredAuthorizationConfiguration", "SupplementalGroupsPolicy", "SystemdWatchdog",
        "TokenRequestServiceAccountUIDValidation", "TopologyAwareHints", "TopologyManagerPolicyAlphaOptions",
        "TopologyManagerPolicyBetaOptions", "TopologyManagerPolicyOptions", "TranslateStreamCloseWebsocketRequests",
        "UnauthenticatedHTTP2DOSMitigation", "UnknownVersionInteroperabilityProxy", "UnlockWhileProcessingFIFO",
        "WatchCacheInitializationPostStartHook", "WatchFromStorageWithoutResourceVersion", "WatchList",
        "WatchListClient", "WinDSR", "WinOverlay", "WindowsCPUAndMemoryAffinity", "WindowsGracefulNodeShutdown",
        "WindowsHostNetwork",
    }
)  # fmt: skip
_GONE_IN_1_37 = (
    "JobBackoffLimitPerIndex", "JobPodReplacementPolicy", "JobSuccessPolicy", "LogarithmicScaleDown",
    "PodLifecycleSleepAction", "PodLifecycleSleepActionAllowZero", "RelaxedDNSSearchValidation",
)  # fmt: skip
GONE_SINCE: Mapping[str, tuple[int, int]] = dict.fromkeys(_GONE_IN_1_37, (37, 0))
"""The release since which a gate is not known any more, its behavior fixed, where that is not long ago."""
