import Foundation
import JSONCoding

/// A configuration that cannot be used.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
  public var description: String

  public init(_ description: String) {
    self.description = description
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
    guard let data = FileManager.default.contents(atPath: path) else {
      throw ConfigurationError("configuration file \(path) cannot be read")
    }
    let json: JSONValue
    do {
      json = try JSONValue(parsing: data)
    } catch {
      throw ConfigurationError("configuration file \(path): \(error.description(in: data))")
    }
    let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
    try apply(ConfigurationReader(json, path: path, directory: directory))
  }

  private mutating func apply(_ reader: ConfigurationReader) throws(ConfigurationError) {
    try reader.allow([
      "address", "port", "publicURL", "deletionRetentionDays", "signatureWindowSeconds",
      "productionSchema", "limits", "explain",
      "containers", "signIn", "webPush", "webhooks", "metrics", "drainSeconds",
      "logLevel", "logFormat",
    ])
    address = try reader.string("address") ?? address
    port = try reader.int("port", in: 0...65_535) ?? port
    publicURL = try reader.string("publicURL") ?? publicURL
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
      throw reader.mistake("'productionSchema' must be fixed or open, not '\(other)'")
    }
    drainTime = try reader.int("drainSeconds", in: 0...300).map(Double.init) ?? drainTime
    logLevel = try reader.choice("logLevel") ?? logLevel
    logFormat = try reader.choice("logFormat") ?? logFormat
    if let settings = try reader.object("signIn") { try signIn.apply(settings) }
    if let settings = try reader.object("webPush") { webPush = try WebPush(settings) }
    if let settings = try reader.object("webhooks") { webhooks = try Webhooks(settings) }
    if let settings = try reader.object("metrics") { metrics = try Metrics(settings) }
    if let settings = try reader.object("limits") { limits = try Limits(settings) }
    if let settings = try reader.object("explain") { explain = try Explain(settings) }
    guard let list = try reader.object("containers") else { return }
    for identifier in list.keys {
      guard identifier.hasPrefix("iCloud.") else {
        throw list.mistake("container '\(identifier)' must begin with 'iCloud.'")
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
    ])
    self.init(
      excludesOriginDevice: try reader.bool("excludesOriginDevice") ?? true,
      refusesEqualSubscriptions: try reader.bool("refusesEqualSubscriptions") ?? false,
      deletionsCarryLastValues: try reader.bool("deletionsCarryLastValues") ?? false)
    if let settings = try reader.object("apns") {
      apns = try ServerConfiguration.APNs(settings)
    }
  }
}

/// An object of a configuration file, with its place.
struct ConfigurationReader {
  let json: JSONValue
  let path: String
  let directory: String

  init(_ json: JSONValue, path: String, directory: String) {
    self.json = json
    self.path = path
    self.directory = directory
  }

  var keys: [String] { (json.object ?? [:]).keys.sorted() }

  func mistake(_ text: String) -> ConfigurationError { ConfigurationError("\(path): \(text)") }

  func allow(_ known: [String]) throws(ConfigurationError) {
    guard let members = json.object else { throw mistake("must be an object, not \(json.kind)") }
    for key in members.keys.sorted() where !known.contains(key) {
      throw mistake("unknown key '\(key)'; known are \(known.joined(separator: ", "))")
    }
  }

  func string(_ key: String) throws(ConfigurationError) -> String? {
    guard let value = json[key] else { return nil }
    guard let string = value.string else {
      throw mistake("'\(key)' must be a string, not \(value.kind)")
    }
    return string
  }

  func required(_ key: String) throws(ConfigurationError) -> String {
    guard let string = try string(key), !string.isEmpty else {
      throw mistake("'\(key)' is missing")
    }
    return string
  }

  /// One of some words.
  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ key: String
  ) throws(ConfigurationError) -> Choice? {
    guard let word = try string(key) else { return nil }
    guard let choice = Choice(rawValue: word) else {
      let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw mistake("'\(key)' must be one of \(known), not '\(word)'")
    }
    return choice
  }

  func bool(_ key: String) throws(ConfigurationError) -> Bool? {
    guard let value = json[key] else { return nil }
    guard let bool = value.bool else {
      throw mistake("'\(key)' must be true or false, not \(value.kind)")
    }
    return bool
  }

  func int(_ key: String, in range: ClosedRange<Int64>) throws(ConfigurationError) -> Int? {
    guard let value = json[key] else { return nil }
    guard let int = value.int, range.contains(int) else {
      throw mistake(
        "'\(key)' must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return Int(int)
  }

  func object(_ key: String) throws(ConfigurationError) -> ConfigurationReader? {
    guard let value = json[key] else { return nil }
    guard value.object != nil else {
      throw mistake("'\(key)' must be an object, not \(value.kind)")
    }
    return ConfigurationReader(value, path: "\(path): \(key)", directory: directory)
  }

  /// The file of this name, from the configuration's directory unless it is absolute.
  func file(_ name: String) -> String {
    name.hasPrefix("/") ? name : directory + "/" + name
  }
}
