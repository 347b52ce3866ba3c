/// A configuration that cannot be used.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
  /// What has to go for the rest to be usable.
  enum Place: Sendable, Hashable {
    case key([String])
    case variable(String)
  }

  public var description: String
  /// Nil where it is not one key or variable that is wrong.
  var place: Place?

  public init(_ description: String) {
    self.description = description
  }

  init(_ description: String, at place: Place) {
    self.description = description
    self.place = place
  }
}

extension ServerConfiguration {
  /// Reads a configuration file.
  ///
  /// ```json
  /// { "address": "0.0.0.0", "port": 8080, "publicURL": "https://cloud.example.com",
  ///   "containers": { "iCloud.com.example.app": { "excludesOriginDevice": true,
  ///     "apns": { "topic": "com.example.app", "teamID": "ABCDE12345", "keyID": "KEY1234567",
  ///               "keyFile": "AuthKey_KEY1234567.p8" } } } }
  /// ```
  ///
  /// Relative file names are taken from the configuration file's directory.
  ///
  /// - Throws: ``ConfigurationError`` naming the file, the key and what would be right. Unknown keys
  ///   are errors.
  public mutating func apply(fileAt path: String) throws(ConfigurationError) {
    try ConfigurationSources(fileAt: path).apply(to: &self)
  }

  mutating func apply(_ reader: ConfigurationReader) throws(ConfigurationError) {
    try reader.allow([
      "address", "port", "publicURL", "deletionRetentionDays", "signatureWindowSeconds",
      "productionSchema", "limits", "notificationLog", "explain",
      "containers", "signIn", "webPush", "webhooks", "metrics", "drainSeconds",
      "logLevel", "logFormat", "admin", "store", "storeFile", "assetDirectory",
      "storeWriters", "storeLogMegabytes",
    ])
    address = try reader.string("address") ?? address
    port = try reader.int("port", in: 0...65_535) ?? port
    publicURL = try reader.string("publicURL") ?? publicURL
    try applyStore(reader)
    deletionRetentionDays =
      try reader.int("deletionRetentionDays", in: 1...36_500) ?? deletionRetentionDays
    signatureWindow =
      try reader.int(
        "signatureWindowSeconds", in: 1...Int64(Self.maximumSignatureWindow)
      ).map(Double.init)
      ?? signatureWindow
    switch try reader.string("productionSchema") {
    case nil: break
    case "fixed": hasFixedProduction = true
    case "open": hasFixedProduction = false
    case let other?:
      throw reader.mistake(
        "productionSchema", "'productionSchema' must be fixed or open, not '\(other)'")
    }
    drainTime = try reader.int("drainSeconds", in: 0...300).map(Double.init) ?? drainTime
    logLevel = try reader.choice("logLevel") ?? logLevel
    logFormat = try reader.choice("logFormat") ?? logFormat
    if let settings = try reader.object("signIn") { try signIn.apply(settings) }
    if let settings = try reader.object("webPush") { webPush = try WebPush(settings) }
    if let settings = try reader.object("webhooks") { webhooks = try Webhooks(settings) }
    if let settings = try reader.object("metrics") { metrics = try Metrics(settings) }
    if let settings = try reader.object("limits") { limits = try Limits(settings) }
    if let settings = try reader.object("notificationLog") {
      notificationLog = try NotificationLog(settings)
    }
    if let settings = try reader.object("explain") { explain = try Explain(settings) }
    if let settings = try reader.object("admin") { admin = try Admin(settings) }
    guard let list = try reader.object("containers") else { return }
    for identifier in list.keys {
      guard identifier.hasPrefix("iCloud.") else {
        throw list.mistake(
          identifier, "container '\(identifier)' must begin with 'iCloud.'")
      }
      guard let container = try list.object(identifier) else { continue }
      containers[identifier] = try Container(container)
    }
  }
}

extension ServerConfiguration.Container {
  fileprivate init(_ reader: ConfigurationReader) throws(ConfigurationError) {
    try reader.allow([
      "apns", "excludesOriginDevice", "refusesEqualSubscriptions", "deletionsCarryLastValues",
      "strings",
    ])
    self.init(
      excludesOriginDevice: try reader.bool("excludesOriginDevice") ?? true,
      refusesEqualSubscriptions: try reader.bool("refusesEqualSubscriptions") ?? false,
      deletionsCarryLastValues: try reader.bool("deletionsCarryLastValues") ?? false)
    if let settings = try reader.object("apns") {
      apns = try ServerConfiguration.APNs(settings)
    }
    if let settings = try reader.object("strings") {
      strings = try ServerConfiguration.Strings(settings)
    }
  }
}
