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
  private let options: CrashOptions
  private let installation: Installation
  private let folder: String
  private var generator: SplitMix64
  private var report: CrashReport
  private var devices: [CloudDevice] = []
  private var registrations: [DeviceRegistration] = []
  private var logTokens: [String: String] = [:]
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

  private func greet() {
    for device in devices {
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
  }

  private func subscribeOnce(_ epoch: Int, _ life: Int) {
    for device in devices where device.device == "phone" {
      device.subscribe(
        id: "\(Workload.prefix(epoch))\(device.user)-once\(life)", topic: device.user,
        type: Workload.type(epoch), firesOnce: true)
    }
  }

  private func lookAtEverything(_ workloads: [Workload]) {
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

  /// Strikes, and comes back when the server has ended or is to be killed.
  ///
  /// - Returns: whether what was to strike did.
  private func end(by strike: Strike) throws -> Bool {
    guard let server = installation.server else { return false }
    let disk = installation.disk
    switch strike {
    case .anyMoment:
      pause(5...250)
      return true
    case .point:
      // Beside other servers it takes over the changes of one that is gone some seconds later.
      return TrialClock.wait(seconds: options.engine == .sqlite ? 1.5 : 8) { server.hasEnded }
    case .disk(let fault):
      disk.set(fault, after: Int.random(in: 0...80, using: &generator), times: 1)
      return TrialClock.wait(seconds: 1.5) { server.hasEnded }
    case .fault(.lyingSync):
      disk.set(.lyingSync)
      pause(200...300)
      return true
    case .fault(let fault):
      let wasStruck = fail(fault, for: 150...400)
      if Bool.random(using: &generator) {
        disk.set(.sound)
        try expectRecovery("the disk worked again")
      }
      return wasStruck
    case .postgreSQL:
      pause(20...80)
      try installation.postgreSQL?.stop()
      pause(20...200)
      try installation.postgreSQL?.startAgain()
      try expectRecovery("PostgreSQL ran again")
      return true
    case .postgreSQLDisk(let fault):
      let wasStruck = fail(fault, for: 300...900)
      disk.set(.sound)
      try expectRecovery("PostgreSQL's disk worked again")
      return wasStruck
    }
  }

  /// Lets the disk fail once, three times, or until further notice.
  ///
  /// - Returns: whether it did.
  private func fail(_ fault: DiskControl.Fault, for milliseconds: ClosedRange<Int>) -> Bool {
    let disk = installation.disk
    let struck = disk.struck
    let times = [1, 3, nil][Int.random(in: 0..<3, using: &generator)]
    pause(20...60)
    disk.set(fault, after: Int.random(in: 0...30, using: &generator), times: times)
    pause(milliseconds)
    return disk.struck > struck
  }

  /// A server that runs takes writes again by itself when what failed is well.
  private func expectRecovery(_ when: String) throws {
    guard let server = installation.server else { return }
    let answers = devices.map(\.answers)
    var isBack = false
    for _ in 0..<15 where !isBack {
      // A PostgreSQL that gave up is started again, as by its service manager.
      try installation.postgreSQL?.revive()
      isBack = TrialClock.wait(seconds: 2) {
        server.hasEnded || zip(devices, answers).contains { $0.answers > $1 + 5 }
      }
    }
    if !isBack {
      report.violations.append(
        Violation(.restart, "the server accepted no requests within 30 seconds after \(when)"))
    }
  }

  private func pause(_ milliseconds: ClosedRange<Int>) {
    TrialClock.pause(seconds: Double(Int.random(in: milliseconds, using: &generator)) / 1e3)
  }

  /// Turns a byte in the middle of each page of the store's file.
  private func damageFile() throws {
    let path = folder + "/data/petrel.sqlite"
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    for place in stride(from: 2_048, to: bytes.count, by: 4_096) { bytes[place] ^= 0xFF }
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  private func cutPower() throws {
    let losses = [0.1, 0.5, 1]
    let loss = options.sabotage == .lyingDisk ? 1 : losses[Int.random(in: 0..<3, using: &generator)]
    let result = try PowerCut(journals: installation.journals, folder: folder + "/data")
      .strike(loss: loss, using: &generator)
    installation.removeJournals()
    try loseIndex()
    report.powerCuts += 1
    report.forgottenWrites += result.forgottenWrites
    report.unsyncedWrites += result.unsyncedWrites
    report.lostSectors += result.lostSectors
    report.lostNames += result.lostNames
  }

  /// Of the log's index, which is memory that processes share, nothing may have come to the disk, or all.
  private func loseIndex() throws {
    let index = folder + "/data/petrel.sqlite-shm"
    if Bool.random(using: &generator) {
      unlink(index)
    } else {
      // It is from before the machine was started.
      var times = [timespec](repeating: timespec(tv_sec: 1, tv_nsec: 0), count: 2)
      utimensat(AT_FDCWD, index, &times, 0)
    }
  }

  /// Starts the server after a life; sometimes it is killed once more before it listens, or its
  /// disk fails.
  private func restart() throws {
    if options.engine == .sqlite, options.sabotage == nil,
      Int.random(in: 0..<5, using: &generator) == 0
    {
      let faults: [DiskControl.Fault] = [
        .killBeforeSync, .killAfterSync, .killInWrite, .forgettingSync,
      ]
      let fault = faults[Int.random(in: 0..<4, using: &generator)]
      installation.disk.set(fault, after: Int.random(in: 0...6, using: &generator), times: 1)
      if try !installation.start() {
        // It need not start from a disk that fails.
        if fault != .forgettingSync { try expectKilled() }
        report.killedStarts += 1
      } else {
        installation.server?.kill()
      }
      installation.disk.set(.sound)
      if Bool.random(using: &generator) { try cutPower() }
    }
    guard try installation.start() else {
      report.violations.append(
        Violation(.restart, "the server does not start again: \(installation.complaints)"))
      throw TrialError("the server does not start again: \(installation.complaints)")
    }
    greet()
  }

  /// A server that did not come to listen was killed, and has not given up.
  private func expectKilled() throws {
    guard installation.server?.wasKilled == false else { return }
    report.violations.append(
      Violation(.restart, "the server does not start: \(installation.complaints)"))
    throw TrialError("the server does not start: \(installation.complaints)")
  }

  // MARK: Judging

  /// Waits until all is quiet, reads everything, and checks the epoch's history.
  private func judge(_ epoch: Int, _ workloads: [Workload]) throws {
    waitUntilQuiet()
    lookAtEverything(workloads)
    var history = History()
    for device in devices {
      history.append(device.history)
      report.add(device)
      device.history = History()
    }
    history.devices = registrations
    let prefix = Workload.prefix(epoch)
    var violations: [Violation] = []
    var judged = history
    // Pushes that the simulator has got come a moment later through its output.
    _ = TrialClock.wait(seconds: 20, every: 0.5) {
      judged = history
      for device in devices where device.device == "phone" {
        _ = device.readLog(
          reader: "judge", since: logTokens[device.user], ofSubscriptions: prefix, isLast: true)
        judged.append(device.history)
        device.history = History()
      }
      judged.pushes = installation.pushes.filter { $0.subscriptionID.hasPrefix(prefix) }
      violations = HistoryChecker.violations(of: judged)
      return violations.isEmpty
    }
    report.count(judged)
    if violations.isEmpty { report.plantFlaws(in: judged, using: &generator) }
    report.violations += violations
    report.violations += devices.flatMap(\.refused).map {
      Violation(.nothingAcknowledgedIsLost, "refused: \($0)")
    }
    if !violations.isEmpty {
      try JSONEncoder().encode(judged).write(
        to: URL(fileURLWithPath: folder + "/history-\(epoch).json"))
    }
    for device in devices where device.device == "phone" {
      logTokens[device.user] =
        device.readLog(
          reader: "", since: logTokens[device.user], ofSubscriptions: prefix)?.token
        ?? logTokens[device.user]
      device.history = History()
      device.unsubscribe(
        ["all", "high"].map { "\(prefix)\(device.user)-\($0)" }, scope: "private")
      device.unsubscribe(["\(prefix)\(device.user)-public"], scope: "public")
    }
  }

  /// Waits until nothing is to be matched, and no push waits.
  private func waitUntilQuiet() {
    var waiting: [Substring] = []
    let isQuiet = TrialClock.wait(seconds: 60, every: 0.02) {
      guard let connection = try? HTTPConnection(port: installation.port),
        let page = try? connection.send("GET", "/metrics")
      else { return false }
      let text = String(decoding: page.body, as: UTF8.self)
      let names = ["petrel_changes_waiting ", "petrel_deliveries_waiting "]
      waiting = text.split(separator: "\n").filter { line in
        names.contains { line.hasPrefix($0) } && !line.hasSuffix(" 0")
      }
      return waiting.isEmpty
    }
    if !isQuiet {
      report.violations.append(
        Violation(
          .atLeastOnce,
          "after 60 seconds, changes or deliveries still wait: \(waiting.joined(separator: ", "))"))
    }
  }
}
