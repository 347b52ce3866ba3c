import JSONCoding
import OutboundHTTP

/// A key that a configuration may have.
struct ConfigurationKey: Sendable {
  enum Kind: Sendable {
    case text
    /// Text that is not shown.
    case secret
    case integer
    case number
    case boolean
    /// Texts.
    case list
    case object([ConfigurationKey])
    /// Objects by names of the operator's own.
    case named([ConfigurationKey])
  }

  let name: String
  let kind: Kind
  /// What is in force; without it, what is set.
  let value: (@Sendable (ServerConfiguration) -> JSONValue?)?

  init(
    _ name: String, _ kind: Kind,
    _ value: (@Sendable (ServerConfiguration) -> JSONValue?)? = nil
  ) {
    self.name = name
    self.kind = kind
    self.value = value
  }

  /// The keys at the top. A test compares them with those that are read.
  static let all: [ConfigurationKey] = [
    .init("address", .text) { .string($0.address) },
    .init("port", .integer) { .int(Int64($0.port)) },
    .init("publicURL", .text) { $0.publicURL.map { .string($0) } },
    .init("store", .text) { .string($0.postgreSQL?.description ?? $0.storePath) },
    .init("storeFile", .text),
    .init("assetDirectory", .text) { $0.postgreSQL == nil ? nil : .string($0.assetsPath) },
    .init("storeWriters", .integer) { .int(Int64($0.storeWriters)) },
    .init("storeLogMegabytes", .integer) { .int(Int64($0.storeLogMegabytes)) },
    .init("deletionRetentionDays", .integer) { .int(Int64($0.deletionRetentionDays)) },
    .init("signatureWindowSeconds", .integer) { .int(Int64($0.signatureWindow)) },
    .init("productionSchema", .text) { .string($0.hasFixedProduction ? "fixed" : "open") },
    .init("drainSeconds", .integer) { .int(Int64($0.drainTime)) },
    .init("logLevel", .text) { .string($0.logLevel.rawValue) },
    .init("logFormat", .text) { .string($0.logFormat.rawValue) },
    .init(
      "metrics",
      .object([
        .init("networks", .list) { .networks($0.metrics.networks) }, .init("tokenFile", .text),
      ])),
    .init("limits", .object(limits)),
    .init(
      "notificationLog",
      .object([
        .init("days", .integer) { .int(Int64($0.notificationLog.days)) },
        .init("entries", .integer) { .int(Int64($0.notificationLog.entries)) },
        .init("bytes", .integer) { .int(Int64($0.notificationLog.bytes)) },
      ])),
    .init(
      "explain",
      .object([
        .init("changes", .integer) { .int(Int64($0.explain.changes)) },
        .init("days", .integer) { .int(Int64($0.explain.days)) },
      ])),
    .init(
      "admin",
      .object([
        .init("enabled", .boolean) { .bool($0.servesAdmin) },
        .init("console", .boolean) { .bool($0.admin.hasConsole) },
        .init("networks", .list) { .networks($0.admin.networks) },
      ])),
    .init("containers", .named(container)),
    .init(
      "signIn",
      .object([
        .init("passwords", .boolean) { .bool($0.signIn.acceptsPasswords) },
        .init("issuers", .named(issuer)),
      ])),
    .init(
      "webPush",
      .object(
        [
          .init("subject", .text), .init("keyFile", .text),
          .init("browsersPerUser", .integer) { $0.webPush.map { .int(Int64($0.browsersPerUser)) } },
        ] + outbound { $0.webPush?.outbound })),
    .init(
      "webhooks",
      .object(
        [
          .init("webhooksPerKey", .integer) { $0.webhooks.map { .int(Int64($0.webhooksPerKey)) } }
        ] + outbound { $0.webhooks?.outbound })),
  ]

  private static let limits: [ConfigurationKey] = [
    .init("privateDatabaseBytes", .integer) { $0.limits.privateDatabaseBytes.map { .int($0) } },
    .init(
      "requestRates",
      .object(
        RequestRate.Subject.allCases.map { subject in
          .init(
            subject.rawValue,
            .object([
              .init("perSecond", .number) {
                $0.limits.requestRates[subject].map { .double($0.perSecond) }
              },
              .init("burst", .integer) {
                $0.limits.requestRates[subject].map { .int(Int64($0.burst)) }
              },
            ]))
        })),
    .init("clientAddressHeader", .text) { $0.limits.clientAddressHeader.map { .string($0) } },
    .init("proxies", .list) { $0.limits.proxies.map { .networks($0) } },
    .init("connectionsPerAddress", .integer) { .int(Int64($0.limits.connectionsPerAddress)) },
    .init("connectionsPerNetwork", .integer) { .int(Int64($0.limits.connectionsPerNetwork)) },
    .init("requestSeconds", .integer) { .int(Int64($0.limits.requestSeconds)) },
    .init("matchingIndexBytes", .integer) { .int(Int64($0.limits.matchingIndexBytes)) },
    .init("searchCacheBytes", .integer) { .int(Int64($0.limits.searchCacheBytes)) },
    .init("silentPushInterval", .number) { .double($0.limits.silentPushInterval) },
    .init("waitingPushes", .integer) { .int(Int64($0.limits.waitingPushes)) },
    .init("publicDatabaseBytes", .integer) { $0.limits.publicDatabaseBytes.map { .int($0) } },
    .init("subscriptionsPerUser", .integer) { .int(Int64($0.limits.subscriptionsPerUser)) },
    .init("zonesPerDatabase", .integer) { .int(Int64($0.limits.zonesPerDatabase)) },
    .init("recordTypesPerContainer", .integer) { .int(Int64($0.limits.recordTypesPerContainer)) },
    .init("fieldsPerRecordType", .integer) { .int(Int64($0.limits.fieldsPerRecordType)) },
    .init("apnsDevicesPerUser", .integer) { .int(Int64($0.limits.apnsDevicesPerUser)) },
    .init("courierReadersPerUser", .integer) { .int(Int64($0.limits.courierReadersPerUser)) },
    .init("undeliveredPushes", .integer) { .int(Int64($0.limits.undeliveredPushes)) },
    .init("undeliveredPushesPerUser", .integer) {
      .int(Int64($0.limits.undeliveredPushesPerUser))
    },
  ]

  private static let container: [ConfigurationKey] = [
    .init("excludesOriginDevice", .boolean), .init("refusesEqualSubscriptions", .boolean),
    .init("deletionsCarryLastValues", .boolean),
    .init("strings", .object([.init("folder", .text), .init("languages", .list)])),
    .init(
      "apns",
      .object([
        .init("topic", .text), .init("teamID", .text), .init("keyID", .text),
        .init("keyFile", .text), .init("certificateFile", .text),
        .init("certificateKeyFile", .text), .init("host", .text), .init("port", .integer),
        .init("authorityFile", .text), .init("proxy", .secret), .init("proxyFile", .text),
        .init("maximumConnections", .integer),
      ])),
  ]

  private static let issuer: [ConfigurationKey] = [
    .init("issuer", .text), .init("clientID", .text), .init("clientSecret", .secret),
    .init("clientSecretFile", .text), .init("teamID", .text), .init("keyID", .text),
    .init("keyFile", .text), .init("scopes", .list), .init("label", .text),
    .init("responseMode", .text),
  ]

  private static func outbound(
    _ outbound: @escaping @Sendable (ServerConfiguration) -> ServerConfiguration.Outbound?
  ) -> [ConfigurationKey] {
    [
      .init("allowedNetworks", .list) { outbound($0).map { .networks($0.allowedNetworks) } },
      .init("allowsHTTP", .boolean) { outbound($0).map { .bool($0.allowsHTTP) } },
      .init("authorityFile", .text),
      .init("connections", .integer) { outbound($0).map { .int(Int64($0.connections)) } },
      .init("timeoutSeconds", .integer) { outbound($0).map { .int(Int64($0.timeout)) } },
    ]
  }
}

extension JSONValue {
  fileprivate static func networks(_ networks: [IPNetwork]) -> JSONValue {
    .array(networks.map { .string("\($0)") })
  }
}
