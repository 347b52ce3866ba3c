import APNsSimulation
import CloudKit
import JSONCoding

/// A data directory as it should be: a store, a configuration, and an APNs simulator over TLS that
/// knows the configuration's key.
struct DoctorSetup: Sendable {
  static let container = "iCloud.org.example.Doctor"

  struct Report {
    var status: Int32
    var json: JSONValue
    var text: String

    /// Returns the findings of a check, or of all checks, with a mark.
    func findings(_ mark: String, in check: String? = nil) -> [String] {
      (json["findings"]?.array ?? []).filter {
        $0["mark"]?.string == mark && (check == nil || $0["check"]?.string == check)
      }.map { "\($0["finding"]?.string ?? "") → \($0["advice"]?.string ?? "")" }
    }
  }

  let folder: String
  let data: String
  let simulator: SimulatorProgram

  static func run(_ body: (DoctorSetup) async throws -> Void) async throws {
    let folder = NSTemporaryDirectory() + "petrel-doctor-" + UUID().uuidString
    let data = folder + "/data"
    try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let setup = DoctorSetup(
      folder: folder, data: data, simulator: try await SimulatorProgram(in: folder))
    chmod(data, 0o700)
    chmod(setup.keyFile, 0o640)
    try setup.configure()
    let users = try Program("petrel", ["users", "add", "anna", "--data", data], in: folder)
    guard try await users.end() == 0 else { throw Program.Ended(output: users.output) }
    try await body(setup)
    try await setup.simulator.program.kill()
  }

  var keyFile: String { simulator.settings["keyFile"]?.string ?? "" }
  var storePath: String { data + "/petrel.sqlite" }

  /// Writes the configuration, which `change` may change: the part for APNs, and all of it.
  func configure(
    _ change: (_ apns: inout [String: JSONValue], _ all: inout [String: JSONValue]) -> Void = {
      _, _ in
    }
  ) throws {
    var apns = simulator.settings
    apns["topics"] = ["org.example.Doctor"]
    var all: [String: JSONValue] = ["port": 0]
    change(&apns, &all)
    all["containers"] = .object([Self.container: ["apns": .object(apns)]])
    try Data(JSONValue.object(all).text.utf8).write(
      to: URL(fileURLWithPath: data + "/server.json"))
  }

  /// Runs `petrel doctor` and returns the report.
  func report(
    _ words: String..., environment: [String: String] = [:], through launcher: [String] = [],
    data: String? = nil
  ) async throws -> Report {
    let program = try Program(
      "petrel", ["doctor", "--json", "--data", data ?? self.data] + words,
      environment: environment, through: launcher, in: folder)
    let status = try await program.end()
    return Report(
      status: status, json: (try? JSONValue(parsing: program.output)) ?? .null,
      text: program.output)
  }

  /// The files below a directory, with what would show that one was changed.
  func snapshot(of directory: String) throws -> [String: String] {
    var files: [String: String] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: directory) {
      var information = stat()
      guard stat(directory + "/" + name, &information) == 0 else { continue }
      // The index of the log is memory that all who read share.
      let size = name.hasSuffix("-shm") ? 0 : information.st_size
      let time = name.hasSuffix("-shm") ? 0 : information.st_mtim.tv_nsec
      files[name] = "\(size) \(time) \(information.st_uid) \(information.st_mode)"
    }
    return files
  }
}
