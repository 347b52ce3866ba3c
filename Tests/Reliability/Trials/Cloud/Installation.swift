import Foundation
import HistoryChecking
import JSONCoding
import PostgreSQLHosting

/// A server's directory, its users, the push service it sends to, and the disk below it.
final class Installation: @unchecked Sendable {
  enum Engine: String, CaseIterable {
    case sqlite
    case postgresql

    /// The value of the option `--engine`.
    init(option name: String) throws {
      guard let engine = Self(rawValue: name) else {
        throw TrialError("--engine must be sqlite or postgresql, not '\(name)'")
      }
      self = engine
    }
  }

  static let container = "iCloud.org.example.Trial"

  let folder: String
  let engine: Engine
  let disk: DiskControl
  let postgreSQL: HostedPostgreSQL?
  private let programs: String
  private let failsOnDemand: Bool
  private let simulator: RunningProgram
  private var tokens: [String: String] = [:]
  private(set) var server: RunningProgram?
  private(set) var port = 0
  private(set) var starts = 0
  /// The longest time from the start of a server to the moment when it listened, in seconds.
  private(set) var longestStart = 0.0

  /// - Parameters:
  ///   - folder: is made, and keeps everything.
  ///   - programs: where `petrel` and the library of the failing disk lie.
  ///   - settings: what stands in the configuration beside the container.
  ///   - failsOnDemand: whether the failing disk stands below the server.
  init(
    in folder: String, engine: Engine, programs: String, settings: [String: JSONValue],
    failsOnDemand: Bool
  ) throws {
    self.failsOnDemand = failsOnDemand
    self.folder = folder
    self.engine = engine
    self.programs = programs
    try FileManager.default.createDirectory(
      atPath: folder + "/data", withIntermediateDirectories: true)
    disk = try DiskControl(path: folder + "/disk")
    postgreSQL =
      engine == .postgresql
      ? try HostedPostgreSQL(
        in: folder + "/pg",
        // Little memory and a short log, so that its disk is read and written.
        settings: failsOnDemand
          ? ["max_connections = 60", "shared_buffers = 1MB", "max_wal_size = 32MB"]
          : ["max_connections = 60"],
        environment: failsOnDemand
          ? [
            "LD_PRELOAD": programs + "/libFailingDisk.so",
            "FAILING_DISK_FOLDER": folder + "/pg/data", "FAILING_DISK_CONTROL": disk.path,
          ] : [:]) : nil
    simulator = try RunningProgram(
      path: programs + "/petrel",
      ["simulate-apns", "--data", folder + "/apns", "--port", "0", "--json"],
      log: folder + "/apns.log")
    guard let line = simulator.readLine(),
      let apns = try JSONValue(parsing: line)["listening"]
    else { throw TrialError("the APNs simulator did not start") }
    var all = settings
    all["containers"] = .object([Self.container: ["apns": apns]])
    try JSONValue.object(all).text.write(
      toFile: folder + "/data/server.json", atomically: true, encoding: .utf8)
    readPushes()
  }

  private var storeArguments: [String] {
    ["--data", folder + "/data"] + (postgreSQL.map { ["--store", $0.address()] } ?? [])
  }

  /// Adds a user, and answers the token; no server may run.
  func addUser(_ name: String) throws -> String { try addAccount(name).token }

  /// Adds a user; no server may run.
  func addAccount(_ name: String) throws -> (token: String, recordName: String) {
    let text = try RunningProgram.output(
      path: programs + "/petrel",
      ["users", "add", name, "--json", "--expires-in", "30d"] + storeArguments,
      log: folder + "/tool.log")
    let answer = try JSONValue(parsing: text)
    guard let token = answer["token"]?.string, let recordName = answer["userRecordName"]?.string
    else { throw TrialError("the user '\(name)' got no token: \(text)") }
    return (token, recordName)
  }

  // MARK: The server

  /// Starts the server, and comes back when it listens.
  ///
  /// - Parameters:
  ///   - killPoint: where in its code it is to end itself, as `name:count`.
  ///   - patience: seconds until it must listen.
  /// - Returns: whether it listens; otherwise it has ended.
  @discardableResult
  func start(killPoint: String? = nil, patience: Double = 60) throws -> Bool {
    var environment: [String: String] = [:]
    let failingDisk = programs + "/libFailingDisk.so"
    if engine == .sqlite, failsOnDemand {
      environment = [
        "LD_PRELOAD": failingDisk, "FAILING_DISK_FOLDER": folder + "/data",
        "FAILING_DISK_CONTROL": disk.path, "FAILING_DISK_JOURNAL": journal,
      ]
    }
    if let killPoint { environment["KILL_POINT"] = killPoint }
    let began = TrialClock.now
    let server = try RunningProgram(
      path: programs + "/petrel",
      ["serve", "--port", "\(port)", "--log-level", "warning"] + storeArguments,
      environment: environment, log: folder + "/server.log")
    self.server = server
    starts += 1
    while let line = server.readLine() {
      guard line.hasPrefix("petrel listens on"),
        let found = line.split(separator: ":").last.flatMap({ Int($0) })
      else { continue }
      port = found
      longestStart = max(longestStart, TrialClock.seconds(since: began))
      return true
    }
    _ = TrialClock.wait(seconds: patience) { server.hasEnded }
    return false
  }

  /// Where the store keeps its contents.
  var storeFolder: String { folder + (engine == .sqlite ? "/data" : "/pg") }

  /// Behind it the failing disk puts the number of a process, for each what it writes of it.
  private var journal: String { folder + "/disk-journal" }

  /// The journals of all processes since the last loss of power.
  var journals: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasPrefix("disk-journal.") && !$0.contains(".kept.") }
      .map { folder + "/" + $0 }
  }

  /// Forgets what has not been synced: it is on the disk.
  func removeJournals() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for name in names where name.hasPrefix("disk-journal") { unlink(folder + "/" + name) }
  }

  /// The last lines of what the server complained of.
  var complaints: String {
    let text = (try? String(contentsOfFile: folder + "/server.log", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").suffix(5).joined(separator: "\n")
  }

  func end(keeping: Bool) {
    server?.kill()
    simulator.kill()
    postgreSQL?.end()
    if !keeping { try? FileManager.default.removeItem(atPath: folder) }
  }

  // MARK: Pushes

  private let lock = NSLock()
  private var received: [PushReceipt] = []
  private var listener: (@Sendable (PushReceipt, _ mark: String?) -> Void)?

  /// Gives pushes to somebody in place of keeping them.
  func listen(_ listener: @escaping @Sendable (PushReceipt, _ mark: String?) -> Void) {
    lock.withLock { self.listener = listener }
  }

  /// Takes the simulator's lines as they come, on a thread of its own.
  private func readPushes() {
    let simulator = simulator
    Thread.detachNewThread { [weak self] in
      while let line = simulator.readLine() {
        guard let json = try? JSONValue(parsing: line), let headers = json["headers"],
          let body = json["payload"]?["ck"]
        else { continue }
        let push = PushReceipt(
          token: json["deviceToken"]?.string ?? "", apnsID: headers["apns-id"]?.string ?? "",
          notificationID: body["nid"]?.string ?? "",
          subscriptionID: (body["qry"] ?? body["fet"] ?? body["met"])?["sid"]?.string ?? "",
          isAccepted: json["status"]?.int == 200)
        guard let self else { return }
        let listener = self.lock.withLock {
          if self.listener == nil { self.received.append(push) }
          return self.listener
        }
        listener?(push, body["qry"]?["af"]?["mark"]?.string)
      }
    }
  }

  var pushes: [PushReceipt] { lock.withLock { received } }
}
