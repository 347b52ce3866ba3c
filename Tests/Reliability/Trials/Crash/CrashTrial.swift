import Foundation
import HistoryChecking
import JSONCoding
import KillPoints
import Synchronization

/// The crash test. It kills a server again and again while clients use it, and checks from outside
/// that nothing acknowledged is lost, doubled or incomplete.
///
/// The test consists of epochs. In each, several lives of the server follow one another. Then all
/// work comes to rest, the test reads everything, and it checks the history of the epoch.
final class CrashTrial {
  let options: CrashOptions
  let installation: Installation
  let folder: String
  var generator: SplitMix64
  var report: CrashReport
  var devices: [CloudDevice] = []
  var registrations: [DeviceRegistration] = []
  var logTokens: [String: String] = [:]
  /// The users who share; nil if something is broken on purpose that they have no part in.
  var sharing: SharingCast?
  private let groups = Workload.Groups()
  private static let users = ["anna", "ben"]

  init(_ options: CrashOptions) throws {
    self.options = options
    folder =
      options.folder
      ?? NSTemporaryDirectory() + "petrel-crash-\(options.engine.rawValue)-\(UUID().uuidString)"
    generator = SplitMix64(seed: options.seed)
    report = CrashReport(engine: options.engine.rawValue, seed: options.seed)
    // The way to it must be open to the user of PostgreSQL.
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    installation = try Installation(
      in: folder, engine: options.engine, programs: options.programs,
      // A short log, so that it is copied often enough to be killed at that.
      settings: ["storeLogMegabytes": 1], failsOnDemand: true)
  }

  /// Runs the test.
  ///
  /// - Returns: The report, with the violations.
  func run() throws -> CrashReport {
    let began = TrialClock.now
    // What was broken on purpose is no riddle.
    var isRiddle: Bool { !report.violations.isEmpty && options.sabotage == nil }
    defer { installation.end(keeping: isRiddle || options.folder != nil) }
    for user in Self.users {
      let token = try installation.addUser(user)
      for device in ["phone", "tablet"] {
        devices.append(
          CloudDevice(
            user: user, device: device, token: token, container: Installation.container))
      }
    }
    if options.sabotage == nil || options.sabotage == .removalTakenBack {
      sharing = try SharingCast(installation)
    }
    var epoch = 0
    while report.lives < options.kills, report.violations.isEmpty {
      if let seconds = options.seconds, TrialClock.seconds(since: began) > seconds { break }
      epoch += 1
      do {
        try run(epoch: epoch)
      } catch {
        // The report contains the work so far, too.
        guard !report.violations.isEmpty else { throw error }
      }
      report.seconds = TrialClock.seconds(since: began)
      say(report.progress)
    }
    report.seconds = TrialClock.seconds(since: began)
    report.starts = installation.starts
    report.longestStart = installation.longestStart
    if isRiddle { report.folder = folder }
    return report
  }

  // MARK: Epochs

  private func run(epoch: Int) throws {
    try startSoundly()
    prepare(epoch)
    let workloads = devices.map {
      Workload($0, epoch: epoch, groups: groups, seed: generator.next())
    }
    for workload in workloads { workload.startLog(at: logTokens[workload.device.user]) }
    let lives = min(options.livesPerEpoch, options.kills - report.lives)
    for life in 0..<lives {
      subscribeOnce(epoch, life)
      try live(workloads)
      // Whoever looks after a crash sees what is there, before anything else is done.
      lookAtEverything(workloads)
      if options.sabotage == .removalTakenBack { sharing?.takeBackRemoval() }
      sharing?.lookAtEverything()
    }
    try judge(epoch, workloads)
  }

  private func startSoundly() throws {
    if installation.server?.hasEnded == false { return }
    installation.disk.set(.sound)
    guard try installation.start() else {
      throw TrialError("the server does not start: \(installation.complaints)")
    }
    greet()
  }

  func greet() {
    for device in devices + (sharing?.devices ?? []) {
      device.hangUp()
      device.port = installation.port
    }
  }

  /// Registers the devices once, and makes the zones and subscriptions of an epoch.
  private func prepare(_ epoch: Int) {
    for device in devices where !registrations.contains(where: { $0.token == device.pushToken }) {
      device.register()
      registrations += device.history.devices
      device.history = History()
    }
    let prefix = Workload.prefix(epoch)
    for device in devices where device.device == "phone" {
      let operations = Workload.zones(epoch).map { zone -> JSONValue in
        ["operationType": "create", "zone": ["zoneID": ["zoneName": .string(zone)]]]
      }
      _ = device.insist("database", "private/zones/modify", ["operations": .array(operations)])
      let user = device.user
      device.subscribe(id: "\(prefix)\(user)-all", topic: user, type: Workload.type(epoch))
      device.subscribe(
        id: "\(prefix)\(user)-high", topic: user + "/high", type: Workload.type(epoch))
      device.subscribe(
        id: "\(prefix)\(user)-public", topic: "public/high", type: Workload.publicType(epoch))
      // From here on logs are read.
      if logTokens[user] == nil {
        logTokens[user] = device.readLog(reader: "", since: nil, ofSubscriptions: prefix)?.token
        device.history.logs = []
      }
    }
    sharing?.prepare(epoch, using: &generator)
  }

  private func subscribeOnce(_ epoch: Int, _ life: Int) {
    for device in devices where device.device == "phone" {
      device.subscribe(
        id: "\(Workload.prefix(epoch))\(device.user)-once\(life)", topic: device.user,
        type: Workload.type(epoch), firesOnce: true)
    }
  }

  func lookAtEverything(_ workloads: [Workload]) {
    for user in Self.users {
      let own = workloads.filter { $0.device.user == user }
      let keys = own.reduce(into: Set<RecordKey>()) { $0.formUnion($1.keys) }
      own.first?.look(at: keys)
      for workload in own { workload.readEverything() }
    }
  }

  // MARK: Lives

  /// Lets the devices work until the server is struck, and starts it again.
  private func live(_ workloads: [Workload]) throws {
    let strikes = Strike.all(on: options.engine, points: points).filter {
      options.strike == nil || $0.name == options.strike
    }
    guard !strikes.isEmpty else {
      throw TrialError(
        "--strike: '\(options.strike ?? "")' is not a strike on \(options.engine.rawValue)")
    }
    let strike =
      options.sabotage == .lyingDisk
      ? .fault(.lyingSync) : strikes[Int.random(in: 0..<strikes.count, using: &generator)]
    report.lives += 1
    if case .point(let name) = strike {
      // Only a start takes it up.
      installation.server?.kill()
      // A point that is seldom passed is to be reached, too.
      let isRare = name.hasSuffix("Checkpoint")
      let most = isRare ? 3 : options.engine == .sqlite ? 60 : 10
      let count = Int.random(in: 1...most, using: &generator)
      if try installation.start(killPoint: "\(name):\(count)") {
        greet()
      } else {
        try expectKilled()
      }
    }
    let isOver = Mutex(false)
    let isOverBox = Box(isOver: { isOver.withLock { $0 } })
    let group = DispatchGroup()
    for workload in workloads {
      Thread.detachNewThread {
        workload.run { !isOverBox.isOver() }
        group.leave()
      }
      group.enter()
    }
    sharing?.work(in: group) { isOverBox.isOver() }
    let wasReached = try end(by: strike)
    isOver.withLock { $0 = true }
    installation.server?.kill()
    group.wait()
    report.count(strike, wasReached: wasReached)
    if let end = installation.server?.end, installation.server?.wasKilled == false {
      report.otherEnds[end, default: 0] += 1
    }
    installation.disk.set(.sound)
    if options.sabotage == .damagedFile { try damageFile() }
    if options.engine == .sqlite,
      options.sabotage == .lyingDisk || Int.random(in: 0..<2, using: &generator) == 0
    {
      try cutPower()
    }
    try restart()
  }

  private struct Box: @unchecked Sendable {
    // The closure reads a mutex, which outlives the threads that call it.
    let isOver: () -> Bool
  }

  private var points: [String] {
    let ofFiles: Set<KillPoint> = [.beforeCheckpoint, .afterCheckpoint]
    return KillPoint.allCases.filter { options.engine == .sqlite || !ofFiles.contains($0) }
      // The users of this test are never deleted.
      .filter { $0 != .afterDeletionStep }
      .map(\.rawValue)
  }
}
