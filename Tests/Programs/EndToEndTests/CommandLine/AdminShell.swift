import AdminAPI
import CloudKit
import JSONCoding

/// The ways in which a command reaches what it is about.
enum Way: CaseIterable {
  case overHTTP, onStore
}

/// A shell that runs `petrel` on a cloud's server, or on its store while no server runs.
struct AdminShell {
  let cloud: Cloud
  let way: Way
  private let keyFile: String

  /// The outcome of a command.
  struct Outcome {
    var status: Int32
    /// Standard output and standard error, as they came.
    var output: String

    /// The lines of standard output that are JSON.
    var json: [JSONValue] {
      output.split(separator: "\n").compactMap { line in
        line.hasPrefix("{") ? try? JSONValue(parsing: String(line)) : nil
      }
    }
  }

  /// Data that is created while the cloud's server runs.
  struct Preparation {
    var make: (Cloud) async throws -> Void

    init(_ make: @escaping (Cloud) async throws -> Void = { _ in }) { self.make = make }
  }

  /// Runs `body` for a cloud whose server is then stopped where the way is that on the store.
  static func run(
    _ way: Way, after preparation: Preparation = Preparation(),
    _ body: (AdminShell) async throws -> Void
  ) async throws {
    try await Cloud.run { cloud in
      for user in ["anna", "ben"] { _ = try await cloud.token(of: user) }
      try await preparation.make(cloud)
      let shell = try await AdminShell(cloud, way)
      if way == .onStore { try await cloud.makeRoomForProgram() }
      try await body(shell)
    }
  }

  init(_ cloud: Cloud, _ way: Way) async throws {
    self.cloud = cloud
    self.way = way
    keyFile = cloud.directory + "/admin.key"
    let key = try await AdminKeys.add(label: "shell", to: cloud.store.adminAccess, at: .now)
    try Self.write(key, toKeyFile: keyFile)
  }

  static func write(_ key: String, toKeyFile file: String, mode: Int = 0o600) throws {
    try Data((key + "\n").utf8).write(to: URL(fileURLWithPath: file))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
  }

  /// The same on the other way, while the cloud's server runs.
  func switching(to way: Way) async throws -> AdminShell { try await AdminShell(cloud, way) }

  /// Runs a command to its end. Words are separated by spaces; `more` are taken as they are.
  func petrel(
    _ words: String, _ more: [String] = [], input: String? = nil
  ) async throws -> Outcome {
    let place =
      switch way {
      case .overHTTP: ["--server", await cloud.serverURL.absoluteString, "--key-file", keyFile]
      case .onStore: ["--data", cloud.directory]
      }
    return try await Self.run(
      words.split(separator: " ").map(String.init) + more + place, input: input, in: cloud)
  }

  /// The same for a command on the cloud's container.
  func inContainer(
    _ words: String, _ more: [String] = [], input: String? = nil
  ) async throws -> Outcome {
    try await petrel(words, more + ["--container", Cloud.container], input: input)
  }

  static func run(
    _ words: [String], environment: [String: String] = [:], input: String? = nil, in cloud: Cloud
  ) async throws -> Outcome {
    let program = try Program(
      "petrel", words, environment: environment, input: input, in: cloud.directory)
    let status = try await program.end()
    return Outcome(status: status, output: program.output)
  }
}
