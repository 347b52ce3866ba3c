import Foundation
import JSONCoding
import Settings
import Testing

@testable import Configuration

struct ConfigurationSourcesTests {
  private static let container = "iCloud.com.example.app"

  /// The configuration that a file and variables make.
  private static func read(
    _ text: String, _ environment: [String: String] = [:]
  ) throws -> (configuration: ServerConfiguration, sources: ConfigurationSources, path: String) {
    let path = NSTemporaryDirectory() + "petrel-config-\(UUID().uuidString).json"
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: path) }
    var sources = try ConfigurationSources(fileAt: path)
    try sources.read(environment: environment)
    var configuration = ServerConfiguration(dataDirectory: "/nowhere")
    try sources.apply(to: &configuration)
    return (configuration, sources, path)
  }

  private static let text = """
    {
      "port": 9000,
      "limits": {
        "requestRates": {
          "user": { "perSecond": 2 } },
        "waitingPushes": 5
      },
      "containers": { "iCloud.com.example.app": {
        "apns": { "topics": ["a"], "teamID": "TEAM123456", "keyID": "KEY1234567",
          "keyFile": "key.p8" } } }
    }
    """

  @Test("variables go over the file, whatever their underscores, and flags over those")
  func overlay() throws {
    var (_, sources, _) = try Self.read(
      Self.text,
      [
        "PETREL_PORT": "9001", "PETREL_PUBLICURL": "https://a.example",
        "PETREL_LIMITS__REQUEST_RATES__USER__PER_SECOND": "2.5",
        "PETREL_LIMITS__PRIVATE_DATABASE_BYTES": "77", "PETREL_SIGN_IN__PASSWORDS": "false",
        "PETREL_METRICS__NETWORKS": "10.0.0.0/8, fd00::/8",
        "PETREL_CONTAINERS__ICLOUD_COM_EXAMPLE_APP__APNS__KEY_ID": "OTHER12345",
        "PETREL_ADDRESS": "", "PETREL_SERVER": "http://elsewhere", "HOME": "/root",
        "PETREL_TEST_PATIENCE": "3",
      ])
    sources.set(["address"], to: "::1", by: .flag("--address"))
    var configuration = ServerConfiguration(dataDirectory: "/nowhere")
    try sources.apply(to: &configuration)
    #expect(configuration.port == 9001)
    #expect(configuration.address == "::1")
    #expect(configuration.publicURL == "https://a.example")
    #expect(configuration.limits.requestRates == [.user: .init(perSecond: 2.5, burst: 25)])
    #expect(configuration.limits.waitingPushes == 5)
    #expect(configuration.limits.privateDatabaseBytes == 77)
    #expect(!configuration.signIn.acceptsPasswords)
    #expect(configuration.metrics.networks.map { "\($0)" } == ["10.0.0.0/8", "fd00::/8"])
    guard
      case .key(_, "OTHER12345", "TEAM123456") = configuration.containers[Self.container]?.channels
        .apns?
        .credential
    else {
      Issue.record("\(configuration.containers)")
      return
    }
  }

  @Test("a variable for an object has it as JSON, and replaces all of it")
  func objects() throws {
    let (configuration, _, _) = try Self.read(
      Self.text,
      [
        "PETREL_CONTAINERS": #"{"iCloud.b": {}}"#,
        "PETREL_CONTAINERS__ICLOUD_B__EXCLUDES_ORIGIN_DEVICE": "false",
      ])
    #expect(configuration.containers == ["iCloud.b": .init(excludesOriginDevice: false)])
  }

  @Test(
    "a variable that cannot be is told by its name",
    arguments: [
      (
        "PETREL_PROT", "1",
        "PETREL_PROT: the configuration has no key for it; did you mean PETREL_PORT? known are PETREL_A"
      ),
      ("PETREL_PORT", "x", "PETREL_PORT: must be a whole number from 0 to 65535, not 'x'"),
      ("PETREL_PORT", "70000", "PETREL_PORT: 'port' must be a whole number from 0 to 65535"),
      ("PETREL_PORT__X", "1", "'port' is not an object; its variable is PETREL_PORT"),
      ("PETREL_SIGN_IN__PASSWORDS", "no", "PETREL_SIGN_IN__PASSWORDS: must be true or false"),
      ("PETREL_LIMITS", "1", "PETREL_LIMITS: must be a JSON object"),
      ("PETREL_LIMITS", #"{"x": 1}"#, "PETREL_LIMITS: limits: unknown key 'x'"),
      ("PETREL_LIMITS__X", "1", "known are PETREL_LIMITS__PRIVATE_DATABASE_BYTES"),
      (
        "PETREL_CONTAINERS__ICLOUD_B__APNS__TOPIC", "b",
        "the file has no 'containers' of this name; give all of them as JSON in PETREL_CONTAINERS"
      ),
      (
        "PETREL_LOG_LEVEL", "loud",
        "'logLevel' must be one of debug, info, warning, error, not 'loud'"
      ),
    ])
  func badVariables(name: String, value: String, complaint: String) {
    let error = #expect(throws: ConfigurationError.self) {
      try Self.read(Self.text, [name: value])
    }
    #expect(error?.description.contains(complaint) == true, "\(error?.description ?? "")")
  }

  @Test("a mistake in the file is told with its line")
  func lines() throws {
    for (broken, line, complaint) in [
      (#""perSecond": 2"#, 5, "limits: requestRates: user: 'perSecond' must be a number above 0"),
      (#""port": 9000"#, 2, "'port' must be a whole number"),
      (#""keyID": "KEY1234567""#, 9, "apns: 'keyID' must be a string, not an array"),
      (#""waitingPushes": 5"#, 6, "limits: 'waitingPushes' must be a whole number"),
    ] {
      let key = broken.split(separator: ":")[0]
      let text = Self.text.replacing(broken, with: "\(key): []")
      let error = #expect(throws: ConfigurationError.self) { _ = try Self.read(text) }
      let description = error?.description ?? ""
      #expect(description.contains(".json:\(line): "), "\(description)")
      #expect(description.contains(complaint), "\(description)")
    }
    let missing = #expect(throws: ConfigurationError.self) {
      try Self.read(Self.text.replacing(#""topics": ["a"],"#, with: ""))
    }
    #expect(missing?.description.contains(".json:9: containers: ") == true, "\(missing!)")
  }

  @Test("what is listed is what is in force, with its origin, and no secret")
  func listing() throws {
    let text = """
      {"port": 9000, "containers": {"iCloud.a": {"apns": {"topics": ["a"], "certificateFile": "c",
        "proxy": "http://anna:hidden@proxy:3128"}}}}
      """
    let (configuration, sources, path) = try Self.read(text, ["PETREL_LOG_LEVEL": "debug"])
    let listing = ConfigurationListing(of: configuration, from: sources)
    func row(_ path: String...) -> ConfigurationListing.Row? {
      listing.rows.first { $0.path == path }
    }
    #expect(row("port") == .init(path: ["port"], value: 9000, origin: .file(path, line: 1)))
    #expect(row("logLevel")?.value == "debug")
    #expect(row("logLevel")?.origin == .variable("PETREL_LOG_LEVEL"))
    #expect(row("address") == .init(path: ["address"], value: "127.0.0.1", origin: nil))
    #expect(row("publicURL") == nil)
    #expect(row("containers", "iCloud.a", "apns", "proxy")?.value == "(not shown)")
    #expect(row("containers", "iCloud.a", "apns", "proxy")?.origin == .file(path, line: 2))
    #expect(!listing.text.contains("hidden") && !listing.json.text.contains("hidden"))
    #expect(listing.text.contains("containers.iCloud.a.apns.topic"))
  }

  @Test("where the store is comes from the key, a file or a variable, and no password is listed")
  func store() throws {
    let url = "postgres://anna:hidden@db.example.com:5433/petrel"
    func check(_ text: String, _ environment: [String: String] = [:]) throws {
      let (configuration, sources, _) = try Self.read(text, environment)
      #expect(configuration.postgreSQL != nil)
      let listing = ConfigurationListing(of: configuration, from: sources)
      let row = listing.rows.first { $0.path == ["store"] }
      #expect(row?.value == "postgres://db.example.com:5433/petrel")
      #expect(!listing.text.contains("hidden") && !listing.json.text.contains("hidden"))
    }
    try check(#"{"store": "\#(url)"}"#)
    try check("{}", ["PETREL_STORE": url])
    let file = NSTemporaryDirectory() + "petrel-store-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: file) }
    try (url + "\n").write(toFile: file, atomically: true, encoding: .utf8)
    try check(#"{"storeFile": "\#(file)"}"#)
    for text in [#"{"store": "mysql://anna:hidden@h/db"}"#, #"{"store": "\#(url)?pass=hidden"}"#] {
      let mistake = #expect(throws: ConfigurationError.self) { _ = try Self.read(text) }
      #expect(mistake?.description.contains("'store'") == true)
      #expect(mistake?.description.contains("hidden") == false)
    }
    let (without, sources, _) = try Self.read("{}")
    let row = ConfigurationListing(of: without, from: sources).rows.first { $0.path == ["store"] }
    #expect(row?.value.string == without.storePath)
  }

  @Test("every key has a variable")
  func catalogue() throws {
    for (path, key) in ConfigurationKey.leaves {
      let variable = ConfigurationSources.variable(for: path)
      switch key.kind {
      case .boolean: try Self.set(variable, "true", path, .bool(true))
      case .whole: try Self.set(variable, "7", path, .int(7))
      case .number, .positive: try Self.set(variable, "0.5", path, .double(0.5))
      case .list: try Self.set(variable, "a,b", path, ["a", "b"])
      case .text, .webURL, .secret, .file, .folder, .choice, .object, .named:
        try Self.set(variable, "a,b", path, "a,b")
      }
    }
  }

  private static func set(
    _ variable: String, _ text: String, _ path: [String], _ value: JSONValue
  ) throws {
    var sources = ConfigurationSources(directory: "/")
    // What is named must be there.
    if path.count > 1 { sources.set(Array(path.dropLast()), to: .object([:]), by: .flag("x")) }
    try sources.read(environment: [variable: text])
    #expect(sources.value(at: path) == value, "\(variable)")
  }
}
