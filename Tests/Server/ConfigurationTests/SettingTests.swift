import JSONCoding
import Settings
import Testing

@testable import Configuration

struct SettingTests {
  /// The members that some objects require.
  private static let needed: [([String], JSONValue)] = [
    (["webPush", "subject"], "mailto:ops@example.com"), (["webhooks"], [:]),
    (["containers", "iCloud.a", "apns"], ["topics": ["a"], "certificateFile": "c"]),
    (["containers", "iCloud.a", "strings", "folder"], "strings"),
    (
      ["limits", "requestRates"],
      .object(
        Dictionary(
          uniqueKeysWithValues: RequestRate.Subject.allCases.map { ($0.rawValue, ["perSecond": 1]) }
        ))
    ),
    (
      ["signIn", "issuers", "a"],
      ["issuer": "https://id.example.com", "clientID": "c", "label": "l", "clientSecret": "s"]
    ),
  ]

  /// Returns the value in force for a value of a setting.
  private static func inForce(_ path: [String], _ value: JSONValue) throws -> JSONValue? {
    var sources = ConfigurationSources(directory: "/")
    for (path, value) in needed { sources.set(path, to: value, by: .flag("needed")) }
    sources.set(path, to: value, by: .flag("tried"))
    var configuration = ServerConfiguration(dataDirectory: "/")
    try sources.apply(to: &configuration)
    return ConfigurationListing(of: configuration, from: sources).rows.first { $0.path == path }?
      .value
  }

  @Test("each number takes the ends of its range, and nothing beyond them")
  func ranges() throws {
    for (path, key) in ConfigurationKey.leaves {
      guard case .whole(let range, _) = key.kind else { continue }
      for end in [range.lowerBound, range.upperBound] {
        #expect(try Self.inForce(path, .int(end)) == .int(end), "\(path)")
      }
      for beyond in [range.lowerBound - 1, range.upperBound + 1] {
        let error = #expect(throws: ConfigurationError.self) {
          _ = try Self.inForce(path, .int(beyond))
        }
        #expect(
          error?.description.hasSuffix(
            "'\(key.name)' must be a whole number from \(range.lowerBound) to "
              + "\(range.upperBound), not \(beyond)") == true, "\(path): \(error!)")
      }
    }
  }

  @Test("each choice and boolean takes each of its values, and no other")
  func choices() throws {
    for (path, key) in ConfigurationKey.leaves {
      let values: [JSONValue]
      switch key.kind {
      case .choice(let words): values = words.map { .string($0) }
      case .boolean: values = [true, false]
      default: continue
      }
      for value in values { #expect(try Self.inForce(path, value) == value, "\(path)") }
      #expect(throws: ConfigurationError.self, "\(path)") { try Self.inForce(path, "other") }
    }
  }

  @Test("no setting takes an object")
  func kinds() {
    for (path, _) in ConfigurationKey.leaves {
      let error = #expect(throws: ConfigurationError.self, "\(path)") {
        try Self.inForce(path, ["a": 1])
      }
      #expect(error?.description.hasPrefix("tried: ") == true, "\(path): \(error!)")
    }
  }

  @Test("what is in force for a container is listed, its defaults too")
  func containers() throws {
    var sources = ConfigurationSources(directory: "/")
    sources.set(["containers", "iCloud.a", "apns"], to: [:], by: .flag("x"))
    sources.set(["containers", "iCloud.a", "apns", "topics"], to: ["a"], by: .flag("x"))
    sources.set(["containers", "iCloud.a", "apns", "certificateFile"], to: "c", by: .flag("x"))
    var configuration = ServerConfiguration(dataDirectory: "/")
    try sources.apply(to: &configuration)
    let rows = ConfigurationListing(of: configuration, from: sources).rows
    func row(_ name: String) -> ConfigurationListing.Row? {
      rows.first { $0.path == ["containers", "iCloud.a", name] }
    }
    #expect(row("excludesOriginDevice")?.value == true)
    #expect(row("excludesOriginDevice")?.origin == nil)
    let file = rows.first { $0.path.last == "certificateFile" }
    #expect(file?.value == "c" && file?.file == .secret)
  }

  @Test("an option goes over the file, and over a file with the value")
  func options() throws {
    var sources = ConfigurationSources(directory: "/")
    sources.set(["storeFile"], to: "none", by: .variable("PETREL_STORE_FILE"))
    func set(_ name: String, _ text: String) throws -> String? {
      sources.set(try #require(SettingOption.all.first { $0.name == name }), to: text)
    }
    #expect(try set("store", "postgres://db.example.com/petrel") == nil)
    #expect(try set("public-url", "https://a.example") == nil)
    #expect(try set("port", "70000") == "must be a whole number from 0 to 65535, not '70000'")
    #expect(
      try set("log-level", "loud")
        == "must be one of debug, info, warning, error, not 'loud'")
    var configuration = ServerConfiguration(dataDirectory: "/")
    try sources.apply(to: &configuration)
    #expect(configuration.postgreSQL?.description == "postgres://db.example.com/petrel")
    #expect(configuration.publicURL == "https://a.example")
    #expect(sources.origin(of: ["publicURL"]) == .flag("--public-url"))
  }

  @Test("the help of an option is the first sentence of the manual, with the default")
  func help() throws {
    func help(_ name: String) throws -> String {
      try #require(SettingOption.all.first { $0.name == name }).help
    }
    #expect(
      try help("port") == "the port to listen on, or 0 to let the system choose (default 8080)")
    #expect(
      try help("log-level")
        == "the least severe level of the log: debug, info, warning, error (default info)")
    #expect(
      try help("store")
        == "the PostgreSQL of the store, postgres://USER@HOST/DATABASE "
        + "(default a file in the data directory)")
  }
}

extension ConfigurationKey {
  /// All keys with one value, with a name of the operator's own where there is one.
  static var leaves: [(path: [String], key: ConfigurationKey)] { leaves(all, at: []) }

  private static func leaves(
    _ keys: [ConfigurationKey], at path: [String]
  ) -> [(path: [String], key: ConfigurationKey)] {
    keys.flatMap { key -> [(path: [String], key: ConfigurationKey)] in
      let path = path + [key.name]
      switch key.kind {
      case .object(let keys): return leaves(keys, at: path)
      case .named(let keys):
        return leaves(keys, at: path + [key.name == "containers" ? "iCloud.a" : "a"])
      default: return [(path, key)]
      }
    }
  }
}
