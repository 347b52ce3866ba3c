// swift-tools-version: 6.0
import PackageDescription

/// Targets whose folders lie together below `Sources` or `Tests`.
func layer(_ folder: String, of root: String = "Sources", _ targets: [Target]) -> [Target] {
  for target in targets { target.path = "\(root)/\(folder)/\(target.name)" }
  return targets
}

/// Modules by their names, with spaces between them.
func modules(_ names: String) -> [Target.Dependency] {
  names.split(whereSeparator: \.isWhitespace).map { .byNameItem(name: String($0), condition: nil) }
}

/// A module, and those that it imports.
func module(
  _ name: String, _ imported: String = "", exclude: [String] = [],
  swiftSettings: [SwiftSetting] = []
) -> Target {
  .target(
    name: name, dependencies: modules(imported), exclude: exclude, swiftSettings: swiftSettings)
}

func program(_ name: String, _ imported: String) -> Target {
  .executableTarget(name: name, dependencies: modules(imported))
}

func tests(
  _ name: String, _ imported: String, resources: [Resource] = [],
  swiftSettings: [SwiftSetting] = []
) -> Target {
  .testTarget(
    name: name, dependencies: modules(imported), resources: resources,
    swiftSettings: swiftSettings)
}

/// A library of Debian's.
func library(_ name: String, _ pkgConfig: String, from package: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([package])])
}

// The layers, top to bottom. A target depends on its own layer or on lower ones, which `Scripts/graph.py` checks.
let layers: [[Target]] = [
  layer(
    "Programs",
    [
      // The command line.
      program(
        "petrel",
        """
        CommandInterface APNsSimulation ServerHosting PetrelServer AdminAPI DatabaseAPI
        Configuration Logging Explanation OpenIDConnect PushChannels StoreTools Storage SQLEngine
        StoreModel WebServices SchemaLanguage CloudKitModel HTTPService OutboundHTTP Cryptography
        JSONCoding Settings CLinuxStatus
        """),
      // Benchmarks, with the load that they make.
      program(
        "petrel-bench",
        """
        CommandInterface ScaleModel PetrelTesting APNsSimulation ServerHosting PostgreSQLHosting
        DatabaseAPI Configuration ChangeDispatch PushChannels Storage SQLEngine StoreModel Matching
        CloudKit WebServices CloudKitModel HTTP2Transport Cryptography JSONCoding Settings CSQLite
        CPostgreSQL CLinuxEvents CMemoryAllocation
        """),
      // How programs declare commands, read words and print.
      module("CommandInterface", "JSONCoding Spelling Settings CMemoryAllocation"),
      // What many servers can do: a simulation.
      module("ScaleModel"),
    ]),
  layer(
    "Testing",
    [
      // The server and the client together, in a test's own process.
      module(
        "PetrelTesting",
        """
        PetrelServer DatabaseAPI Configuration ChangeDispatch PushChannels Storage StoreModel
        CloudKit WebServices CloudKitModel HTTPService Cryptography Concurrency
        """),
      module("APNsSimulation", "CloudKitModel HTTP2Transport Cryptography JSONCoding Errors"),
      // A server of a program's own, and what makes it known to a simulator.
      module(
        "ServerHosting",
        """
        APNsSimulation DatabaseAPI Configuration Storage StoreModel CloudKitModel Cryptography
        JSONCoding
        """),
      // A PostgreSQL of a program's own, for measuring and for tests.
      module("PostgreSQLHosting"),
    ]),
  layer(
    "Server",
    [
      // The whole server: its start and stop, its sockets, metrics and health.
      module(
        "PetrelServer",
        """
        AdminAPI DatabaseAPI Configuration Logging ChangeDispatch PushChannels Storage StoreModel
        WebServices CloudKitModel HTTPService OutboundHTTP Cryptography JSONCoding Measuring
        Settings Concurrency KillPoints
        """),
      // What those who run a server ask and do, and the console.
      module(
        "AdminAPI",
        """
        DatabaseAPI Configuration Logging Explanation CConsoleFiles ChangeDispatch PushChannels
        Storage StoreModel WebServices SchemaLanguage PredicateLanguage CloudKitModel HTTPService
        OutboundHTTP Cryptography JSONCoding Settings Concurrency
        """),
      // What apps ask a server for: operations with who may call them, assets, the web courier, sign-in.
      module(
        "DatabaseAPI",
        """
        Configuration Logging OpenIDConnect PushChannels Storage StoreModel WebServices
        CloudKitModel HTTPService OutboundHTTP Cryptography JSONCoding Spelling Settings
        Concurrency
        """),
      // What a server can be told before it starts.
      module(
        "Configuration",
        """
        Logging OpenIDConnect PushChannels Storage SQLEngine StoreModel CloudKitModel HTTPService
        OutboundHTTP Cryptography JSONCoding Spelling Settings
        """),
      // What a server writes down for its operators.
      module("Logging", "CloudKitModel JSONCoding"),
      module("Explanation", "PushChannels Storage StoreModel Matching CloudKitModel"),
      module("OpenIDConnect", "CloudKitModel OutboundHTTP Cryptography JSONCoding Errors"),
      module("CConsoleFiles", exclude: ["files"]),
    ]),
  layer(
    "Delivery",
    [
      module(
        "ChangeDispatch",
        "PushChannels Storage StoreModel Matching CloudKitModel Measuring Concurrency KillPoints"),
      // The ways to devices: a folder for each, and what they share.
      module(
        "PushChannels",
        """
        Storage StoreModel CloudKitModel HTTP2Transport OutboundHTTP Cryptography JSONCoding
        StringTables Measuring Settings
        """),
    ]),
  layer(
    "Store",
    [
      // Copies of whole stores, and looks into them: backup, move, comparison, examination.
      module("StoreTools", "Storage SQLEngine StoreModel Cryptography CSQLite"),
      module(
        "Storage",
        "SQLEngine StoreModel CloudKitModel Cryptography Measuring KillPoints CLinuxEvents"),
      // SQLite and PostgreSQL behind one protocol; knows no table of the store's.
      module("SQLEngine", "StoreModel KillPoints CSQLite CPostgreSQL CPageChecksum"),
      // What callers of the store see of it.
      module("StoreModel", "CloudKitModel Cryptography Measuring"),
    ]),
  layer(
    "Matching",
    [
      module("Matching", "CloudKitModel CPrefetch")
    ]),
  layer(
    "Client",
    [
      // The client.
      module(
        "CloudKit",
        """
        CoreLocation CCloudKitEnumerations WebServices PredicateLanguage CloudKitModel JSONCoding
        StringTables HTTPTransfers CCurl
        """),
      module("CoreLocation"),
      // The client under the name that it has on Apple's systems.
      module("PetrelCloudKit", "CloudKit"),
      // The enumerations of the client, which only C can declare open.
      .systemLibrary(name: "CCloudKitEnumerations"),
    ]),
  layer(
    "Protocol",
    [
      // What both sides share.
      module("WebServices", "CloudKitModel JSONCoding"),
      module("SchemaLanguage", "CloudKitModel"),
      module("PredicateLanguage", "CloudKitModel"),
      module("CloudKitModel"),
    ]),
  layer(
    "Network",
    [
      module("HTTPService", "Concurrency Errors CMicroHTTPD"),
      // Transport and cryptography over C libraries.
      module("HTTP2Transport", "CNgHTTP2 COpenSSL CLinuxEvents"),
      module("OutboundHTTP", "HTTPTransfers Settings Errors CCurl COpenSSL"),
      // Requests over libcurl, for the client on Linux and for the server.
      module("HTTPTransfers", "CCurl"),
    ]),
  layer(
    "Base",
    [
      module("Cryptography", "Errors COpenSSL CSodium"),
      module("JSONCoding"),
      module("StringTables"),
      module("Measuring"),
      // Waiting in tasks, and what a process does by itself.
      module("Concurrency"),
      module("Spelling"),
      module("Errors"),
      // How a program declares what its configuration may say.
      module("Settings", "JSONCoding Spelling"),
      // Where a server can be told to end as if it were killed; in debug builds alone.
      module("KillPoints", swiftSettings: [.define("KILL_POINTS", .when(configuration: .debug))]),
    ]),
  layer(
    "System",
    [
      library("CSQLite", "sqlite3", from: "libsqlite3-dev"),
      library("CPostgreSQL", "libpq", from: "libpq-dev"),
      library("CCurl", "libcurl", from: "libcurl4-openssl-dev"),
      library("CNgHTTP2", "libnghttp2", from: "libnghttp2-dev"),
      library("COpenSSL", "openssl", from: "libssl-dev"),
      library("CSodium", "libsodium", from: "libsodium-dev"),
      library("CMicroHTTPD", "libmicrohttpd", from: "libmicrohttpd-dev"),
      .systemLibrary(name: "CLinuxEvents"),
      .systemLibrary(name: "CLinuxStatus"),
      .systemLibrary(name: "CMemoryAllocation"),
      .systemLibrary(name: "CPrefetch"),
      .systemLibrary(name: "CPageChecksum"),
    ]),
]

// The tests of each layer, and what several of them share.
let testing: [[Target]] = [
  layer(
    "Programs", of: "Tests",
    [
      // What the commands decide by themselves; what they do is tested from end to end.
      tests(
        "ProgramTests",
        """
        petrel petrel-bench CommandInterface AdminAPI Configuration PushChannels StoreTools Storage
        StoreModel CloudKit CloudKitModel Cryptography Spelling Settings PropertyTesting
        RepositoryFiles
        """),
      tests(
        "EndToEndTests",
        """
        APNsSimulation PetrelServer AdminAPI DatabaseAPI Configuration ChangeDispatch PushChannels
        Storage SQLEngine StoreModel CloudKit WebServices CloudKitModel HTTPService HTTP2Transport
        OutboundHTTP Cryptography JSONCoding PropertyTesting RepositoryFiles Waiting PythonPrograms
        PostgreSQLTesting ProxySimulation WebPushSimulation SyncDevices
        """),
      tests(
        "BrowserTests",
        """
        PetrelServer AdminAPI DatabaseAPI Configuration OpenIDConnect PushChannels Storage
        StoreModel CloudKitModel HTTPService OutboundHTTP JSONCoding StringTables RepositoryFiles
        Waiting PythonPrograms WebPushSimulation IssuerSimulation
        """),
      tests("ScaleModelTests", "ScaleModel"),
      // The code that the guide shows, as a reader has it.
      tests(
        "GuideTests",
        """
        SharedLists SyncedNotes PetrelTesting CloudKit PetrelCloudKit JSONCoding RepositoryFiles
        Waiting
        """),
    ]),
  layer(
    "Testing", of: "Tests",
    [
      tests("PetrelTestingTests", "PetrelTesting CloudKit PropertyTesting Waiting SyncDevices"),
      tests(
        "APNsSimulationTests",
        "APNsSimulation CloudKitModel HTTP2Transport Cryptography JSONCoding Waiting"),
    ]),
  layer(
    "Server", of: "Tests",
    [
      tests(
        "PetrelServerTests",
        """
        PetrelServer AdminAPI DatabaseAPI Configuration Logging Explanation OpenIDConnect
        PushChannels Storage SQLEngine StoreModel WebServices CloudKitModel HTTPService
        OutboundHTTP Cryptography JSONCoding Measuring Settings CSQLite PropertyTesting
        RepositoryFiles Waiting PythonPrograms PostgreSQLTesting ProxySimulation WebPushSimulation
        IssuerSimulation
        """),
      tests(
        "DatabaseAPITests",
        """
        DatabaseAPI Configuration Storage SQLEngine StoreModel WebServices CloudKitModel
        HTTPService OutboundHTTP Cryptography PropertyTesting Waiting PostgreSQLTesting
        """),
      tests(
        "ConfigurationTests",
        """
        Configuration OpenIDConnect PushChannels Cryptography JSONCoding Settings RepositoryFiles
        """),
      tests(
        "OpenIDConnectTests",
        "OpenIDConnect CloudKitModel Cryptography JSONCoding Waiting HostilePeer IssuerSimulation"),
    ]),
  layer(
    "Delivery", of: "Tests",
    [
      tests(
        "ChangeDispatchTests",
        """
        ChangeDispatch Matching PushChannels Storage SQLEngine StoreModel CloudKitModel PropertyTesting
        Waiting PostgreSQLTesting ProtocolModels
        """),
      tests(
        "PushChannelsTests",
        """
        APNsSimulation PushChannels StoreModel CloudKit WebServices CloudKitModel HTTP2Transport
        OutboundHTTP Cryptography JSONCoding Settings PropertyTesting Waiting PythonPrograms
        HostilePeer ProxySimulation WebPushSimulation
        """),
    ]),
  layer(
    "Store", of: "Tests",
    [
      tests(
        "StorageTests",
        """
        PostgreSQLHosting StoreTools Storage SQLEngine StoreModel CloudKitModel Cryptography
        CSQLite CPageChecksum PropertyTesting RepositoryFiles Waiting PostgreSQLTesting
        ProxySimulation ProtocolModels
        """)
    ]),
  layer(
    "Matching", of: "Tests",
    [
      tests(
        "MatchingTests", "Matching CloudKitModel JSONCoding PropertyTesting",
        resources: [.copy("Fixtures")])
    ]),
  layer(
    "Client", of: "Tests",
    [
      tests(
        "CloudKitTests",
        """
        CloudKit CoreLocation WebServices PredicateLanguage CloudKitModel HTTPService
        PropertyTesting Waiting
        """),
      // Code as apps have it, with nothing of the package but the module.
      tests("SourceCompatibilityTests", "CloudKit"),
      tests(
        "SourceCompatibilityInSwift5Tests", "CloudKit",
        swiftSettings: [.swiftLanguageMode(.v5)]),
    ]),
  layer(
    "Protocol", of: "Tests",
    [
      tests("WebServicesTests", "WebServices CloudKitModel JSONCoding PropertyTesting"),
      tests("SchemaLanguageTests", "SchemaLanguage CloudKitModel PropertyTesting"),
      tests("CloudKitModelTests", "CloudKitModel PropertyTesting RepositoryFiles"),
    ]),
  layer(
    "Network", of: "Tests",
    [
      tests("HTTPServiceTests", "HTTPService OutboundHTTP PropertyTesting Waiting"),
      tests(
        "HTTP2TransportTests",
        "HTTP2Transport Cryptography PropertyTesting Waiting HostilePeer ProxySimulation"),
      tests(
        "OutboundHTTPTests",
        """
        HTTPService HTTP2Transport OutboundHTTP Cryptography COpenSSL PropertyTesting Waiting
        HostilePeer
        """),
    ]),
  layer(
    "Base", of: "Tests",
    [
      tests("CryptographyTests", "Cryptography"),
      tests("JSONCodingTests", "JSONCoding PropertyTesting"),
      tests("StringTablesTests", "StringTables PropertyTesting"),
      tests("MeasuringTests", "Measuring PropertyTesting"),
      tests("ConcurrencyTests", "Concurrency Waiting"),
    ]),
  layer(
    "Support", of: "Tests",
    [
      // What property tests of several modules share.
      module("PropertyTesting"),
      // Files of the repository that tests read.
      module("RepositoryFiles", "JSONCoding"),
      // How tests wait for what nothing reports.
      module("Waiting"),
      // Devices with a sync engine.
      module("SyncDevices", "CloudKit"),
      // How tests run Python.
      module("PythonPrograms", "JSONCoding Waiting"),
      // A PostgreSQL that tests start.
      module("PostgreSQLTesting", "PostgreSQLHosting Storage SQLEngine CPostgreSQL"),
      // The protocols of servers that share a store, as state machines of which tests look at every state.
      module("ProtocolModels"),
      // A server over TLS that does not behave, for tests.
      module("HostilePeer", "Cryptography COpenSSL"),
      // Proxies for tests: one of HTTP, and one of any connection that holds what it should pass on.
      module("ProxySimulation"),
      // A push service of browsers for tests.
      module("WebPushSimulation", "PushChannels HTTP2Transport Cryptography JSONCoding Waiting"),
      // An OpenID Connect issuer for tests.
      module("IssuerSimulation", "HTTPService Cryptography JSONCoding COpenSSL"),
      // A program for tests that kill it.
      program("OperationProbe", "CloudKit"),
      // A program that asks as the server asks others, for tests with a name server of their own.
      program("OutboundProbe", "OutboundHTTP"),
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
      dependencies: modules(
        """
        PostgreSQLHosting JSONCoding KillPoints CSQLite CLinuxEvents HistoryChecking CFailingDisk
        """),
      path: "Tests/Reliability/Trials"),
    .testTarget(
      name: "HistoryCheckingTests", dependencies: ["PropertyTesting", "HistoryChecking"],
      path: "Tests/Reliability/HistoryCheckingTests"),
  ],
]

// Programs written against the client as an app would be.
let examples: [Target] = [
  .executableTarget(
    name: "EarthquakeAlerts", dependencies: ["CloudKit"], path: "Examples/EarthquakeAlerts",
    exclude: ["fiji-earthquakes.csv", "README.md"], resources: [.copy("Strings")]),
  .executableTarget(
    name: "FirstProgram", dependencies: ["CloudKit"], path: "Examples/FirstProgram"),
  .executableTarget(
    name: "FeedItem", dependencies: ["CloudKit"], path: "Examples/FeedItem",
    exclude: ["README.md"]),
  .executableTarget(
    name: "SharedLists", dependencies: ["CloudKit"], path: "Examples/SharedLists"),
  .executableTarget(
    name: "SyncedNotes", dependencies: ["CloudKit"], path: "Examples/SyncedNotes"),
]

/// `docs/internals/architecture.md` says what lives where.
let package = Package(
  name: "petrel",
  products: [
    .library(name: "CloudKit", targets: ["CloudKit"]),
    .library(name: "PetrelCloudKit", targets: ["PetrelCloudKit"]),
    .library(name: "CoreLocation", targets: ["CoreLocation"]),
    .library(name: "PetrelTesting", targets: ["PetrelTesting"]),
    .executable(name: "petrel", targets: ["petrel"]),
    .executable(name: "petrel-bench", targets: ["petrel-bench"]),
    .library(name: "FailingDisk", type: .dynamic, targets: ["FailingDisk"]),
  ],
  targets: (layers + testing).flatMap { $0 } + examples,
  swiftLanguageModes: [.v6]
)

// Hostile input (docs/internals/fuzzing.md): tests, or with a path to libFuzzer the program of `make fuzz`.
let attacked = modules(
  """
  APNsSimulation PetrelServer AdminAPI DatabaseAPI Configuration OpenIDConnect PushChannels Storage
  StoreModel CloudKit CoreLocation WebServices SchemaLanguage PredicateLanguage CloudKitModel
  HTTPService HTTP2Transport OutboundHTTP Cryptography JSONCoding Settings PropertyTesting
  """)
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
    ["EndToEndTests", "GuideTests"].contains(tested)
    ? [
      "petrel", "petrel-bench", "OperationProbe", "OutboundProbe", "FeedItem", "FirstProgram",
      "SharedLists", "SyncedNotes",
    ] : []
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
// Apple's systems get the client alone. They have a CoreLocation and a URLSession of their own, and a CloudKit too.
// A program cannot have two modules of one name, so the client's module is PetrelCloudKit there
// (docs/guide/moving-from-icloud.md). The product CloudKit stays, because the package manager resolves a dependency
// with a condition on Linux there too.
let client: Set = [
  "CloudKit", "CCloudKitEnumerations", "WebServices", "PredicateLanguage", "StringTables",
  "CloudKitModel", "JSONCoding",
]
package.products = ["CloudKit", "PetrelCloudKit"].map {
  .library(name: $0, targets: ["PetrelCloudKit"])
}
package.platforms = [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)]
package.targets.removeAll { !client.contains($0.name) }
for target in package.targets {
  if target.name == "CloudKit" { target.name = "PetrelCloudKit" }
  target.dependencies.removeAll {
    if case .byNameItem(let name, _) = $0 { !client.contains(name) } else { false }
  }
}
#endif
