// swift-tools-version: 6.0
import PackageDescription

/// Targets whose folders lie together below `Sources` or `Tests`.
func layer(_ folder: String, of root: String = "Sources", _ targets: [Target]) -> [Target] {
  for target in targets { target.path = "\(root)/\(folder)/\(target.name)" }
  return targets
}

// The layers, top to bottom. A target depends on its own layer or on lower ones, which `Scripts/graph.py` checks.
let layers: [[Target]] = [
  layer(
    "Programs",
    [
      // The command line.
      .executableTarget(
        name: "petrel",
        dependencies: [
          "CommandInterface", "ServerHosting", "APNsSimulation", "PetrelServer", "Explanation",
          "PushChannels", "StoreTools", "Storage", "SQLEngine",
          "StoreModel", "WebServices", "SchemaLanguage", "CloudKitModel",
          "HTTPService", "HTTP2Transport", "OutboundHTTP", "OpenIDConnect", "Cryptography",
          "JSONCoding", "Settings", "CLinuxStatus",
          "CMemoryAllocation",
        ]),
      // Benchmarks, with the load that they make.
      .executableTarget(
        name: "petrel-bench",
        dependencies: [
          "CommandInterface", "ScaleModel", "ServerHosting", "PetrelTesting", "APNsSimulation",
          "PostgreSQLHosting", "PetrelServer", "ChangeDispatch", "PushChannels", "Storage",
          "SQLEngine", "StoreModel", "Matching", "WebServices", "CloudKitModel", "HTTP2Transport",
          "Cryptography", "JSONCoding", "CSQLite", "CPostgreSQL", "CLinuxEvents",
        ]),
      // How programs declare commands, read words and print.
      .target(
        name: "CommandInterface",
        dependencies: ["Spelling", "JSONCoding", "CMemoryAllocation"]),
      // What many servers can do: a simulation.
      .target(name: "ScaleModel"),
    ]),
  layer(
    "Testing",
    [
      // The server and the client together, in a test's own process.
      .target(
        name: "PetrelTesting",
        dependencies: [
          "CloudKit", "PetrelServer", "ChangeDispatch", "PushChannels", "Storage", "StoreModel",
          "HTTPService", "Cryptography", "WebServices", "CloudKitModel",
        ]),
      .target(
        name: "APNsSimulation",
        dependencies: ["HTTP2Transport", "Cryptography", "CloudKitModel", "JSONCoding"]),
      // A server of a program's own, and what makes it known to a simulator.
      .target(
        name: "ServerHosting",
        dependencies: [
          "APNsSimulation", "PetrelServer", "Storage", "StoreModel", "CloudKitModel",
          "Cryptography", "JSONCoding",
        ]),
      // A PostgreSQL of a program's own, for measuring and for tests.
      .target(name: "PostgreSQLHosting"),
    ]),
  layer(
    "Server",
    [
      // The server.
      .target(
        name: "PetrelServer",
        dependencies: [
          "Explanation", "ChangeDispatch", "PushChannels", "Matching", "Storage", "SQLEngine",
          "StoreModel",
          "HTTPService", "HTTP2Transport", "OpenIDConnect", "OutboundHTTP",
          "Cryptography",
          "WebServices", "SchemaLanguage", "PredicateLanguage", "StringTables", "CloudKitModel",
          "JSONCoding", "Measuring", "Settings", "Spelling", "KillPoints", "CConsoleFiles",
        ]),
      .target(
        name: "Explanation",
        dependencies: ["PushChannels", "Matching", "StoreModel", "CloudKitModel", "JSONCoding"]),
      .target(
        name: "OpenIDConnect",
        dependencies: ["OutboundHTTP", "Cryptography", "CloudKitModel", "JSONCoding"]),
      .target(name: "CConsoleFiles", exclude: ["files"]),
    ]),
  layer(
    "Delivery",
    [
      .target(
        name: "ChangeDispatch",
        dependencies: [
          "StoreModel", "Matching", "PushChannels", "CloudKitModel", "Measuring", "KillPoints",
        ]),
      // The ways to devices: a folder for each, and what they share.
      .target(
        name: "PushChannels",
        dependencies: [
          "StoreModel", "StringTables", "HTTP2Transport", "OutboundHTTP", "Cryptography",
          "Measuring",
          "CloudKitModel", "JSONCoding", "Settings",
        ]),
    ]),
  layer(
    "Store",
    [
      // Copies of whole stores, and looks into them: backup, move, comparison, examination.
      .target(
        name: "StoreTools",
        dependencies: [
          "Storage", "SQLEngine", "StoreModel", "Cryptography", "CSQLite",
        ]),
      .target(
        name: "Storage",
        dependencies: [
          "SQLEngine", "StoreModel", "Cryptography", "CloudKitModel", "Measuring", "KillPoints",
          "CLinuxEvents",
        ]),
      // SQLite and PostgreSQL behind one protocol; knows no table of the store's.
      .target(
        name: "SQLEngine",
        dependencies: ["StoreModel", "KillPoints", "CSQLite", "CPostgreSQL", "CPageChecksum"]),
      // What callers of the store see of it.
      .target(
        name: "StoreModel", dependencies: ["Cryptography", "CloudKitModel", "Measuring"]),
    ]),
  layer(
    "Matching",
    [
      .target(name: "Matching", dependencies: ["CloudKitModel", "CPrefetch"])
    ]),
  layer(
    "Client",
    [
      // The client.
      .target(
        name: "CloudKit",
        dependencies: [
          "CoreLocation", "WebServices", "PredicateLanguage", "StringTables", "CloudKitModel",
          "JSONCoding", "CCurl",
        ]),
      .target(name: "CoreLocation"),
    ]),
  layer(
    "Protocol",
    [
      // What both sides share.
      .target(name: "WebServices", dependencies: ["CloudKitModel", "JSONCoding"]),
      .target(name: "SchemaLanguage", dependencies: ["CloudKitModel"]),
      .target(name: "PredicateLanguage", dependencies: ["CloudKitModel"]),
      .target(name: "CloudKitModel"),
    ]),
  layer(
    "Network",
    [
      .target(name: "HTTPService", dependencies: ["CMicroHTTPD"]),
      // Transport and cryptography over C libraries.
      .target(name: "HTTP2Transport", dependencies: ["CNgHTTP2", "COpenSSL", "CLinuxEvents"]),
      .target(name: "OutboundHTTP", dependencies: ["Settings", "CCurl", "COpenSSL"]),
    ]),
  layer(
    "Base",
    [
      .target(name: "Cryptography", dependencies: ["COpenSSL", "CSodium"]),
      .target(name: "JSONCoding"),
      .target(name: "StringTables"),
      .target(name: "Measuring"),
      .target(name: "Spelling"),
      // How a program declares what its configuration may say.
      .target(name: "Settings", dependencies: ["Spelling", "JSONCoding"]),
      // Where a server can be told to end as if it were killed; in debug builds alone.
      .target(
        name: "KillPoints",
        swiftSettings: [.define("KILL_POINTS", .when(configuration: .debug))]),
    ]),
  layer(
    "System",
    [
      .systemLibrary(
        name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
      .systemLibrary(
        name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
      .systemLibrary(
        name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
      .systemLibrary(
        name: "CNgHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
      .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
      .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
      .systemLibrary(
        name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
      .systemLibrary(name: "CLinuxEvents"),
      .systemLibrary(name: "CLinuxStatus"),
      .systemLibrary(name: "CMemoryAllocation"),
      .systemLibrary(name: "CPrefetch"),
      .systemLibrary(name: "CPageChecksum"),
    ]),
]

// The tests of each layer, and what several of them share.
let tests: [[Target]] = [
  layer(
    "Programs", of: "Tests",
    [
      // What the commands decide by themselves; what they do is tested from end to end.
      .testTarget(
        name: "ProgramTests",
        dependencies: [
          "RepositoryFiles", "PropertyTesting", "petrel", "petrel-bench", "CommandInterface",
          "PetrelServer", "PushChannels",
          "Storage", "StoreTools", "StoreModel",
          "Cryptography", "Settings", "Spelling",
          "CloudKitModel",
        ]),
      .testTarget(
        name: "EndToEndTests",
        dependencies: [
          "RepositoryFiles",
          "Waiting", "PropertyTesting", "PostgreSQLTesting", "ProxySimulation", "WebPushSimulation",
          "PythonPrograms", "CloudKit",
          "PetrelServer", "ChangeDispatch", "PushChannels", "Storage", "SQLEngine", "StoreModel",
          "APNsSimulation", "HTTPService", "HTTP2Transport", "OutboundHTTP", "Cryptography",
          "WebServices",
          "CloudKitModel", "JSONCoding",
        ]),
      .testTarget(
        name: "BrowserTests",
        dependencies: [
          "RepositoryFiles",
          "Waiting", "PythonPrograms", "IssuerSimulation", "WebPushSimulation", "PetrelServer",
          "PushChannels",
          "StringTables", "Storage", "StoreModel", "HTTPService", "OpenIDConnect", "OutboundHTTP",
          "CloudKitModel", "JSONCoding",
        ]),
      .testTarget(name: "ScaleModelTests", dependencies: ["PropertyTesting", "ScaleModel"]),
    ]),
  layer(
    "Testing", of: "Tests",
    [
      .testTarget(
        name: "PetrelTestingTests", dependencies: ["Waiting", "PetrelTesting", "CloudKit"]),
      .testTarget(
        name: "APNsSimulationTests",
        dependencies: [
          "Waiting", "APNsSimulation", "HTTP2Transport", "Cryptography", "CloudKitModel",
          "JSONCoding",
        ]),
    ]),
  layer(
    "Server", of: "Tests",
    [
      .testTarget(
        name: "PetrelServerTests",
        dependencies: [
          "RepositoryFiles",
          "Waiting", "PropertyTesting", "PostgreSQLTesting", "PythonPrograms", "IssuerSimulation",
          "WebPushSimulation", "PetrelServer", "Explanation", "PushChannels", "Storage",
          "SQLEngine",
          "StoreModel", "HTTP2Transport", "HTTPService",
          "Measuring", "Settings",
          "OpenIDConnect", "OutboundHTTP", "Cryptography", "WebServices", "CloudKitModel",
          "JSONCoding", "CSQLite",
        ]),
      .testTarget(
        name: "OpenIDConnectTests",
        dependencies: [
          "Waiting", "HostilePeer", "IssuerSimulation", "OpenIDConnect", "Cryptography",
          "CloudKitModel", "JSONCoding",
        ]),
    ]),
  layer(
    "Delivery", of: "Tests",
    [
      .testTarget(
        name: "ChangeDispatchTests",
        dependencies: [
          "PropertyTesting", "Waiting", "PostgreSQLTesting", "ProtocolModels", "ChangeDispatch",
          "Storage", "SQLEngine", "StoreModel", "PushChannels", "CloudKitModel",
        ]),
      .testTarget(
        name: "PushChannelsTests",
        dependencies: [
          "Waiting", "PropertyTesting", "PythonPrograms", "ProxySimulation", "HostilePeer",
          "WebPushSimulation", "PushChannels", "APNsSimulation", "CloudKit", "Settings",
          "StoreModel",
          "StringTables",
          "HTTP2Transport", "OutboundHTTP", "Cryptography", "WebServices", "CloudKitModel",
          "JSONCoding",
        ]),
    ]),
  layer(
    "Store", of: "Tests",
    [
      .testTarget(
        name: "StorageTests",
        dependencies: [
          "RepositoryFiles",
          "Waiting", "PropertyTesting", "PostgreSQLTesting", "PostgreSQLHosting", "Storage",
          "SQLEngine",
          "StoreTools", "StoreModel", "Cryptography", "CloudKitModel", "CSQLite", "CPageChecksum",
        ])
    ]),
  layer(
    "Matching", of: "Tests",
    [
      .testTarget(
        name: "MatchingTests",
        dependencies: ["PropertyTesting", "Matching", "CloudKitModel", "JSONCoding"],
        resources: [.copy("Fixtures")])
    ]),
  layer(
    "Client", of: "Tests",
    [
      .testTarget(
        name: "CloudKitTests",
        dependencies: [
          "PropertyTesting", "CloudKit", "CoreLocation", "HTTPService", "WebServices",
          "PredicateLanguage",
          "CloudKitModel", "Waiting",
        ]),
      // Code as apps have it, with nothing of the package but the module.
      .testTarget(name: "SourceCompatibilityTests", dependencies: ["CloudKit"]),
      .testTarget(
        name: "SourceCompatibilityInSwift5Tests", dependencies: ["CloudKit"],
        swiftSettings: [.swiftLanguageMode(.v5)]),
    ]),
  layer(
    "Protocol", of: "Tests",
    [
      .testTarget(
        name: "WebServicesTests",
        dependencies: ["PropertyTesting", "WebServices", "CloudKitModel", "JSONCoding"]),
      .testTarget(
        name: "SchemaLanguageTests",
        dependencies: ["PropertyTesting", "SchemaLanguage", "CloudKitModel"]),
      .testTarget(
        name: "CloudKitModelTests",
        dependencies: ["RepositoryFiles", "PropertyTesting", "CloudKitModel"]),
    ]),
  layer(
    "Network", of: "Tests",
    [
      .testTarget(
        name: "HTTPServiceTests",
        dependencies: ["PropertyTesting", "Waiting", "HTTPService", "OutboundHTTP"]),
      .testTarget(
        name: "HTTP2TransportTests",
        dependencies: [
          "PropertyTesting", "Waiting", "ProxySimulation", "HostilePeer", "HTTP2Transport",
          "Cryptography",
        ]),
      .testTarget(
        name: "OutboundHTTPTests",
        dependencies: [
          "Waiting", "PropertyTesting", "HostilePeer", "OutboundHTTP", "HTTPService",
          "HTTP2Transport", "Cryptography", "COpenSSL",
        ]),
    ]),
  layer(
    "Base", of: "Tests",
    [
      .testTarget(name: "CryptographyTests", dependencies: ["Cryptography"]),
      .testTarget(name: "JSONCodingTests", dependencies: ["PropertyTesting", "JSONCoding"]),
      .testTarget(name: "StringTablesTests", dependencies: ["PropertyTesting", "StringTables"]),
      .testTarget(name: "MeasuringTests", dependencies: ["PropertyTesting", "Measuring"]),
    ]),
  layer(
    "Support", of: "Tests",
    [
      // What property tests of several modules share.
      .target(name: "PropertyTesting"),
      // Files of the repository that tests read.
      .target(name: "RepositoryFiles", dependencies: ["JSONCoding"]),
      // How tests wait for what nothing reports.
      .target(name: "Waiting"),
      // How tests run Python.
      .target(
        name: "PythonPrograms", dependencies: ["Waiting", "JSONCoding"]),
      // A PostgreSQL that tests start.
      .target(
        name: "PostgreSQLTesting",
        dependencies: ["PostgreSQLHosting", "Storage", "SQLEngine", "CPostgreSQL"]),
      // The protocols of servers that share a store, as state machines of which tests look at every state.
      .target(name: "ProtocolModels"),
      // A server over TLS that does not behave, for tests.
      .target(
        name: "HostilePeer", dependencies: ["Cryptography", "COpenSSL"]),
      // An HTTP proxy for tests.
      .target(name: "ProxySimulation"),
      // A push service of browsers for tests.
      .target(
        name: "WebPushSimulation",
        dependencies: ["Waiting", "PushChannels", "HTTP2Transport", "Cryptography", "JSONCoding"]),
      // An OpenID Connect issuer for tests.
      .target(
        name: "IssuerSimulation",
        dependencies: ["HTTPService", "Cryptography", "COpenSSL", "JSONCoding"]),
      // A program for tests that kill it.
      .executableTarget(
        name: "OperationProbe", dependencies: ["CloudKit"]),
      // A program that asks as the server asks others, for tests with a name server of their own.
      .executableTarget(
        name: "OutboundProbe", dependencies: ["OutboundHTTP"]),
    ]),
  // A server in a process of its own that is killed, and whose disk fails.
  [
    // Whether a server may have behaved as its clients saw it.
    .target(name: "HistoryChecking", path: "Tests/Reliability/HistoryChecking"),
    // A disk that fails as it is told, between a program and the C library; and how it is told.
    .target(
      name: "FailingDisk", path: "Tests/Reliability/FailingDisk", publicHeadersPath: ".",
      cSettings: [.headerSearchPath("../CFailingDisk")]),
    .systemLibrary(name: "CFailingDisk", path: "Tests/Reliability/CFailingDisk"),
    // Long trials of a server in a process of its own, from outside.
    .executableTarget(
      name: "trials",
      dependencies: [
        "HistoryChecking", "PostgreSQLHosting", "KillPoints", "JSONCoding", "CFailingDisk",
        "CLinuxEvents", "CSQLite",
      ],
      path: "Tests/Reliability/Trials"),
    .testTarget(
      name: "HistoryCheckingTests", dependencies: ["PropertyTesting", "HistoryChecking"],
      path: "Tests/Reliability/HistoryCheckingTests"),
  ],
]

// Programs written against the client as an app would be.
let examples: [Target] = [
  // Programs written against the client as an app would be.
  .executableTarget(
    name: "EarthquakeAlerts", dependencies: ["CloudKit"], path: "Examples/EarthquakeAlerts",
    exclude: ["fiji-earthquakes.csv", "README.md"], resources: [.copy("Strings")]),
  .executableTarget(
    name: "FirstProgram", dependencies: ["CloudKit"], path: "Examples/FirstProgram"),
  .executableTarget(
    name: "FeedItem", dependencies: ["CloudKit"], path: "Examples/FeedItem",
    exclude: ["README.md"]),
]

/// `docs/architecture.md` says what lives where.
let package = Package(
  name: "petrel",
  products: [
    .library(name: "CloudKit", targets: ["CloudKit"]),
    .library(name: "CoreLocation", targets: ["CoreLocation"]),
    .library(name: "PetrelTesting", targets: ["PetrelTesting"]),
    .executable(name: "petrel", targets: ["petrel"]),
    .executable(name: "petrel-bench", targets: ["petrel-bench"]),
    .library(name: "FailingDisk", type: .dynamic, targets: ["FailingDisk"]),
  ],
  targets: (layers + tests).flatMap { $0 } + examples,
  swiftLanguageModes: [.v6]
)

// Hostile input (docs/fuzzing.md): tests, or with a path to libFuzzer the program of `make fuzz`.
let attacked: [Target.Dependency] = [
  "PropertyTesting", "PetrelServer", "CloudKit", "CoreLocation", "APNsSimulation", "PushChannels",
  "Settings", "OpenIDConnect", "OutboundHTTP", "HTTP2Transport", "HTTPService", "Storage",
  "StoreModel", "Cryptography", "WebServices", "SchemaLanguage", "PredicateLanguage",
  "CloudKitModel",
  "JSONCoding",
]
if let fuzzer = Context.environment["PETREL_LIBFUZZER"] {
  package.targets.append(
    .executableTarget(
      name: "fuzz", dependencies: attacked, path: "Tests/FuzzingTests",
      exclude: ["Corpora", "Suites"],
      linkerSettings: [.unsafeFlags(["-Xlinker", fuzzer, "-lstdc++"])]))
} else {
  package.targets.append(
    .testTarget(
      name: "FuzzingTests", dependencies: attacked, path: "Tests/FuzzingTests",
      exclude: ["Corpora", "Program"]))
}

// One test target alone, with what it needs and the programs that it runs, so that a change of one file is tested in
// seconds: what `make test ONLY=StorageTests.PageCacheTests` builds.
if let tested = Context.environment["PETREL_TEST_TARGET"] {
  let programs =
    tested == "EndToEndTests"
    ? ["petrel", "petrel-bench", "OperationProbe", "OutboundProbe", "FeedItem", "FirstProgram"] : []
  var needed: Set<String> = []
  var waiting = [tested] + programs
  while let name = waiting.popLast() {
    guard needed.insert(name).inserted else { continue }
    for dependency in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
      if case .byNameItem(let other, _) = dependency { waiting.append(other) }
    }
  }
  package.products.removeAll()
  package.targets.removeAll { !needed.contains($0.name) }
}

// How the checks build it (Scripts/build.sh). Not otherwise, for nobody can depend by version on a package with such
// flags.
if Context.environment["PETREL_CHECKED"] != nil {
  // Tests compute longer in these than the optimizer takes.
  let computing: Set = [
    "Storage", "StoreTools", "SQLEngine", "StoreModel", "Matching", "PredicateLanguage",
    "CloudKitModel",
    "JSONCoding", "ScaleModel", "Cryptography", "HistoryChecking", "ProtocolModels",
    "PropertyTesting",
  ]
  for target in package.targets where ![.system, .test].contains(target.type) {
    // A crash says in which line it was. Tests do without, for a test that fails names its line itself.
    let flags = ["-g"] + (computing.contains(target.name) ? ["-O"] : [])
    target.swiftSettings =
      (target.swiftSettings ?? []) + [.unsafeFlags(flags, .when(configuration: .debug))]
  }
}

#if !os(Linux)
// Apple's systems get the client alone. They have a CoreLocation and a URLSession of their own, and a CloudKit too:
// who depends on this package there renames its module (docs/coming-from-apple.md).
let client: Set = [
  "CloudKit", "WebServices", "PredicateLanguage", "StringTables", "CloudKitModel", "JSONCoding",
]
package.platforms = [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)]
package.products.removeAll { $0.name != "CloudKit" }
package.targets.removeAll { !client.contains($0.name) }
for target in package.targets {
  target.dependencies.removeAll {
    if case .byNameItem(let name, _) = $0 { !client.contains(name) } else { false }
  }
}
#endif
