extension ServiceLimits {
  /// All limits of ``ServiceLimits``, each under the name of its property. `server/limits` returns
  /// these limits to clients.
  public static let all: [ServiceLimit] = [
    .init("operationsPerRequest", operationsPerRequest, .count),
    .init("recordsPerPage", recordsPerPage, .count),
    .init("changesPageSize", changesPageSize, .bytes),
    .init("notificationsPageSize", notificationsPageSize, .bytes),
    .init("nameLength", nameLength, .characters),
    .init("containerIdentifierSize", containerIdentifierSize, .bytes),
    .init("deviceTokenSize", deviceTokenSize, .bytes),
    .init("containersPerCourierToken", containersPerCourierToken, .count),
    .init("clientChangeTokenSize", clientChangeTokenSize, .bytes),
    .init("recordSize", recordSize, .bytes),
    .init("assetSize", assetSize, .bytes),
    .init("assetsPerRequest", assetsPerRequest, .count),
    .init("uploadURLLifetime", uploadURLLifetime, .seconds),
    .init("recordsSizePerRequest", recordsSizePerRequest, .bytes),
    .init("requestBodySize", requestBodySize, .bytes),
    .init("desiredKeysPerSubscription", desiredKeysPerSubscription, .count),
    .init("pushStringLength", pushStringLength, .characters),
    .init("collapseIdentifierSize", collapseIdentifierSize, .bytes),
    .init("badge", badge, .count),
    .init("pushPayloadSize", pushPayloadSize, .bytes),
    .init("webPushPayloadSize", webPushPayloadSize, .bytes),
    .init("deleteSelfReferencesPerTarget", deleteSelfReferencesPerTarget, .count),
    .init("filtersPerQuery", filtersPerQuery, .count),
    .init("valuesPerFilter", valuesPerFilter, .count),
    .init("wordsPerFilter", wordsPerFilter, .count),
  ]
}
