import Foundation
import JSONCoding

/// Lets an attacker at a server beside its normal users, and looks what those feel of it.
final class AttackTrial {
  private static let users = 8
  /// The limit in seconds for 99 of 100 requests of normal users.
  private static let limit = 0.1
  /// The limit in seconds from a save to its notification for 99 of 100.
  private static let pushLimit = 1.0

  private let options: OverloadTrial.Options
  private let installation: Installation
  private let folder: String
  private var faults: [String] = []

  init(_ options: OverloadTrial.Options) throws {
    self.options = options
    folder = NSTemporaryDirectory() + "petrel-attack-\(UUID().uuidString)"
    installation = try Installation(
      in: folder, engine: options.engine, programs: options.programs, settings: [:],
      failsOnDemand: false)
  }

  /// - Returns: whether users could work as ever.
  func run() throws -> Bool {
    defer { installation.end(keeping: false) }
    let devices = try (0..<Self.users).map { number in
      CloudDevice(
        user: "user\(number)", device: "phone", token: try installation.addUser("user\(number)"),
        container: Installation.container)
    }
    func escaped(_ token: String) -> String {
      token.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
    let token = escaped(try installation.addUser("attacker"))
    let listenersToken = try installation.addUser("listener")
    guard try installation.start() else {
      throw TrialError("the server does not start: \(installation.complaints)")
    }
    for device in devices {
      device.port = installation.port
      device.patience = 60
    }
    try publish(by: devices[0])
    let sensor = CloudDevice(
      user: "listener", device: "sensor", token: listenersToken, container: Installation.container)
    sensor.port = installation.port
    sensor.patience = 60
    let listener = try PushListener(sensor, token: escaped(listenersToken))
    let users = devices.map { NormalUser($0) }
    // What the first requests make, indexes and plans, is no part of either phase.
    _ = TrialClock.wait(seconds: 60) { users.allSatisfy(\.hasMetEverything) }
    let quiet = phase(
      "alone", users, listener, seconds: min(300, max(3, options.seconds / 4)))
    judge("alone", quiet)
    for mode in options.modes {
      let before = residentBytes
      let attacker = Attacker(
        mode, port: installation.port, token: token, shapes: options.shapes,
        held: min(1_000, options.connections))
      let beside = phase(
        "beside \(mode)", users, listener, seconds: options.seconds / Double(options.modes.count))
      let grown = residentBytes - before
      tell(of: attacker.end())
      for user in users { _ = user.take() }
      let began = TrialClock.now
      let isBack = TrialClock.wait(seconds: 60) { users.allSatisfy(\.isServed) }
      say(
        String(
          format: "all users are served %.1f s later; memory of the server: %+.0f MB",
          TrialClock.seconds(since: began), Double(grown) / 1e6))
      if !isBack { faults.append("users were not served after \(mode) had stopped") }
      judge("beside \(mode)", beside)
      if grown > 1_000_000_000 { faults.append("\(mode): memory grew by \(grown >> 20) MiB") }
    }
    for user in users { user.end() }
    listener.end()
    for fault in faults { say("FAULT: \(fault)") }
    return faults.isEmpty
  }

  /// Saves the records that everybody may read.
  private func publish(by device: CloudDevice) throws {
    for first in stride(from: 0, to: 4_000, by: 400) {
      let operations: [JSONValue] = (first..<first + 400).map { number in
        let fields: JSONValue = [
          "title": ["value": .string("Article \(number) on things that happened")],
          "number": ["value": .int(Int64(number % 1_000))],
        ]
        return [
          "operationType": "create",
          "record": [
            "recordName": .string("article\(number)"), "recordType": "Article", "fields": fields,
          ],
        ]
      }
      guard
        case .answer = device.ask(
          "database", "public/records/modify", ["operations": .array(operations)])
      else { throw TrialError("articles cannot be saved: \(device.refusals)") }
    }
  }

  private func phase(
    _ name: String, _ users: [NormalUser], _ listener: PushListener, seconds: Double
  ) -> (users: NormalUser.Experience, pushes: (delays: [Double], missing: Int)) {
    for user in users { _ = user.take() }
    _ = listener.take()
    _ = TrialClock.wait(seconds: seconds) { installation.server?.hasEnded == true }
    var all = NormalUser.Experience()
    for user in users { all.add(user.take()) }
    say(
      String(
        format: "normal users %@: %d answers, p50 %.1f, p99 %.1f, most %.0f ms; refused %@; "
          + "unanswered %d",
        name, all.waits.count, OverloadPhase.percentile(all.waits, 0.5) * 1e3,
        OverloadPhase.percentile(all.waits, 0.99) * 1e3, (all.waits.max() ?? 0) * 1e3,
        all.refused.isEmpty ? "none" : "\(all.refused)", all.unanswered))
    for (operation, waits) in all.waitsByOperation.sorted(by: { $0.key < $1.key }) {
      say(
        String(
          format: "  %@ p50 %.1f, p99 %.1f, most %.0f ms",
          operation.padding(toLength: 24, withPad: " ", startingAt: 0),
          OverloadPhase.percentile(waits, 0.5) * 1e3, OverloadPhase.percentile(waits, 0.99) * 1e3,
          (waits.max() ?? 0) * 1e3))
    }
    let pushes = listener.take()
    say(
      String(
        format: "  %@ %d, p50 %.0f, p99 %.0f, most %.0f ms; missing %d",
        "notifications".padding(toLength: 24, withPad: " ", startingAt: 0), pushes.delays.count,
        OverloadPhase.percentile(pushes.delays, 0.5) * 1e3,
        OverloadPhase.percentile(pushes.delays, 0.99) * 1e3, (pushes.delays.max() ?? 0) * 1e3,
        pushes.missing))
    return (all, pushes)
  }

  private var residentBytes: Int {
    guard let server = installation.server else { return 0 }
    return SoakSample(
      seconds: 0, process: server.identifier, folder: folder + "/none", answers: [], pushes: []
    ).residentBytes
  }

  private func tell(of tallies: [String: Attacker.Tally]) {
    say("the attacker's requests:")
    for (name, tally) in tallies.sorted(by: { $0.value.seconds > $1.value.seconds }) {
      let answers = tally.answers.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
      say(
        String(
          format: "  %@ %6d, on average %.0f, most %.0f ms: %@, unanswered %d",
          name.padding(toLength: 34, withPad: " ", startingAt: 0), tally.count,
          tally.seconds / Double(max(tally.count, 1)) * 1e3, tally.longest * 1e3,
          answers.joined(separator: ", "), tally.unanswered))
    }
  }

  private func judge(
    _ name: String,
    _ experience: (users: NormalUser.Experience, pushes: (delays: [Double], missing: Int))
  ) {
    let (users, pushes) = experience
    if let end = installation.server?.end {
      faults.append("\(name): the server exited: \(end); \(installation.complaints)")
    }
    if users.unanswered > 0 {
      faults.append("\(name): \(users.unanswered) requests were not answered")
    }
    if !Set(users.refused.keys).isSubset(of: ["TRY_AGAIN_LATER", "THROTTLED"]) {
      faults.append("\(name): users were refused: \(users.refused)")
    }
    if pushes.missing > 0 { faults.append("\(name): \(pushes.missing) notifications did not come") }
    guard options.judgesTimes else { return }
    if !users.refused.isEmpty { faults.append("\(name): users were refused: \(users.refused)") }
    if users.waits.isEmpty { faults.append("\(name): no user was answered") }
    for (what, times, limit) in [
      ("requests of users", users.waits, Self.limit),
      ("notifications", pushes.delays, Self.pushLimit),
    ] {
      let p99 = OverloadPhase.percentile(times, 0.99)
      if p99 > limit {
        faults.append(
          "\(name): 99 of 100 \(what) took up to \(Int(p99 * 1e3)) ms, over \(Int(limit * 1e3)) ms")
      }
    }
  }
}
