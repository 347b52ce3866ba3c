import Foundation
import HistoryChecking
import JSONCoding
import Synchronization

/// Uses a server evenly for a long time, and looks whether what it takes and how long it needs stays as
/// it was.
///
/// The users change the same records again and again, read, subscribe and unsubscribe, come with new
/// connections and with devices that are registered anew. What the server keeps of the past is limited
/// to little, so that the store must come to an end of its growing.
final class SoakTrial: @unchecked Sendable {
  struct Options {
    var seconds = 300.0
    var seed = UInt64.random(in: 1...1_000_000)
    /// Requests a second of each of eight devices.
    var rate = 20
    var engine = Installation.Engine.sqlite
    var programs = RunningProgram.ownFolder
    var plot: String?
    var report: String?
    /// Whether it is judged how long users wait; not where something else keeps the machine busy.
    var judgesTimes = true

    init(_ words: ArraySlice<String>) throws {
      var options = TrialOptions(words)
      while let word = options.next() {
        switch word {
        case "--minutes": seconds = 60 * Double(try options.number(of: word))
        case "--seconds": seconds = Double(try options.number(of: word))
        case "--seed": seed = UInt64(try options.number(of: word))
        case "--engine": engine = try Installation.Engine(option: options.value(of: word))
        case "--rate": rate = try options.number(of: word)
        case "--programs": programs = try options.value(of: word)
        case "--plot": plot = try options.file(of: word)
        case "--report": report = try options.file(of: word)
        case "--untimed": judgesTimes = false
        default: throw TrialError("unknown option '\(word)'")
        }
      }
    }
  }

  private struct Delays {
    var answers: [Double] = []
    var pushes: [Double] = []
    /// When the save that left a mark was answered.
    var saved: [String: Int64] = [:]
  }

  private let options: Options
  private let installation: Installation
  private var generator: SplitMix64
  private let delays = Mutex(Delays())
  private let isOver = Mutex(false)
  private var samples: [SoakSample] = []
  private static let users = ["anna", "ben", "cleo", "dora"]
  static let logMegabytes = 4

  init(_ options: Options) throws {
    self.options = options
    let folder = NSTemporaryDirectory() + "petrel-soak-\(UUID().uuidString)"
    // The way to it must be open to the user of PostgreSQL.
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    generator = SplitMix64(seed: options.seed)
    installation = try Installation(
      in: folder, engine: options.engine, programs: options.programs,
      settings: [
        "storeLogMegabytes": .int(Int64(Self.logMegabytes)),
        "notificationLog": ["entries": 200], "explain": ["changes": 500],
      ], failsOnDemand: false)
  }

  /// - Returns: whether everything stayed as it was.
  func run() throws -> Bool {
    defer { installation.end(keeping: false) }
    var devices: [CloudDevice] = []
    for user in Self.users {
      let token = try installation.addUser(user)
      for name in ["phone", "tablet"] {
        devices.append(
          CloudDevice(user: user, device: name, token: token, container: Installation.container))
      }
    }
    guard try installation.start(), let server = installation.server else {
      throw TrialError("the server does not start: \(installation.complaints)")
    }
    installation.listen { [self] push, mark in
      guard push.isAccepted, let mark else { return }
      let now = TrialClock.now
      delays.withLock { delays in
        if let saved = delays.saved[mark] { delays.pushes.append(Double(now - saved) / 1e9) }
      }
    }
    let group = DispatchGroup()
    let groups = Workload.Groups()
    prepare(devices)
    for device in devices {
      let workload = Workload(
        device, epoch: 0, groups: groups, seed: generator.next(), grows: false)
      group.enter()
      Thread.detachNewThread { [self] in
        use(device, workload)
        group.leave()
      }
    }
    let began = TrialClock.now
    let interval = max(0.5, options.seconds / 240)
    while TrialClock.seconds(since: began) < options.seconds, !server.hasEnded {
      TrialClock.pause(seconds: interval)
      sample(server, TrialClock.seconds(since: began))
    }
    isOver.withLock { $0 = true }
    group.wait()
    return try judge(server, devices)
  }

  private func prepare(_ devices: [CloudDevice]) {
    for device in devices {
      device.port = installation.port
      device.register()
      guard device.device == "phone" else { continue }
      let zones = Workload.zones(0).map { zone -> JSONValue in
        ["operationType": "create", "zone": ["zoneID": ["zoneName": .string(zone)]]]
      }
      _ = device.insist("database", "private/zones/modify", ["operations": .array(zones)])
      let prefix = Workload.prefix(0) + device.user
      device.subscribe(id: prefix + "-all", topic: device.user, type: Workload.type(0))
      device.subscribe(
        id: prefix + "-public", topic: "public/high", type: Workload.publicType(0))
    }
  }

  /// Uses a device until the end: at an even pace, with a rare operation now and then.
  private func use(_ device: CloudDevice, _ workload: Workload) {
    var steps = 0
    var due = TrialClock.now
    let pause = Int64(1e9) / Int64(options.rate)
    while !isOver.withLock({ $0 }) {
      due += pause
      let now = TrialClock.now
      if due > now { TrialClock.pause(seconds: Double(due - now) / 1e9) } else { due = now }
      let began = TrialClock.now
      steps += 1
      switch steps {
      case _ where steps % 500 == 0: device.register()
      case _ where steps % 100 == 0:
        let id = Workload.prefix(0) + device.name + "-brief"
        device.subscribe(
          id: id, topic: device.user + "/high", type: Workload.type(0), firesOnce: true)
        device.unsubscribe([id], scope: "private")
      default: workload.step()
      }
      let ended = TrialClock.now
      if steps % 50 == 0 { device.hangUp() }
      delays.withLock { delays in
        delays.answers.append(Double(ended - began) / 1e9)
        for write in device.history.writes {
          if case .done = write.outcome, let mark = write.mark {
            delays.saved[mark] = write.span.ended
          }
        }
      }
      device.history = History()
    }
  }

  private func sample(_ server: RunningProgram, _ seconds: Double) {
    let (answers, pushes) = delays.withLock { delays in
      defer {
        delays.answers = []
        delays.pushes = []
        // Pushes that come later than that show in the figures of the server's own metrics.
        let old = TrialClock.now - 60_000_000_000
        delays.saved = delays.saved.filter { $0.value > old }
      }
      return (delays.answers, delays.pushes)
    }
    samples.append(
      SoakSample(
        seconds: seconds, process: server.identifier, folder: installation.storeFolder,
        answers: answers, pushes: pushes))
    if samples.count % 20 == 0, let last = samples.last {
      say(
        String(
          format:
            "%4.0f s: %.0f MB, %d descriptors, store %.1f MB, log %.1f MB, %d requests, p99 %.1f ms, push %.1f ms",
          seconds, Double(last.residentBytes) / 1e6, last.descriptors,
          Double(last.storeBytes) / 1e6, Double(last.logBytes) / 1e6, last.requests,
          last.answer99 * 1e3, last.pushMedian * 1e3))
    }
  }

  private func judge(_ server: RunningProgram, _ devices: [CloudDevice]) throws -> Bool {
    if let plot = options.plot {
      try SoakPlot(samples).svg.write(toFile: plot, atomically: true, encoding: .utf8)
    }
    if let report = options.report {
      try JSONEncoder().encode(samples).write(to: URL(fileURLWithPath: report))
    }
    if let end = server.end {
      say("the server exited: \(end); \(installation.complaints)")
      return false
    }
    var isWell = true
    let requests = samples.reduce(0) { $0 + $1.requests }
    say(
      "soak on \(options.engine.rawValue) of \(Int(options.seconds)) s, seed \(options.seed): \(requests) requests"
    )
    for figure in SoakFigure.all {
      let (early, late) = figure.change(in: samples)
      let isFlat = figure.isFlat(in: samples) || (figure.unit == "ms" && !options.judgesTimes)
      isWell = isWell && isFlat
      say(
        "  " + figure.name.padding(toLength: 18, withPad: " ", startingAt: 0)
          + String(format: "%8.1f -> %8.1f ", early, late) + figure.unit
          + (isFlat ? "" : "  NOT FLAT"))
    }
    let refusals = devices.reduce(into: [String: Int]()) {
      $0.merge($1.refusals, uniquingKeysWith: +)
    }
    if !refusals.isEmpty { say("  refusals: \(refusals)") }
    return isWell
  }
}
