import Foundation
import JSONCoding

/// Lets an attacker at a server beside its normal users, and looks what those feel of it.
final class AttackTrial {
  private static let users = 8
  /// The limit in seconds for 99 of 100 requests of normal users.
  private static let limit = 0.1

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
    let token =
      try installation.addUser("attacker")
      .addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    guard try installation.start() else {
      throw TrialError("the server does not start: \(installation.complaints)")
    }
    for device in devices {
      device.port = installation.port
      device.patience = 60
    }
    try publish(by: devices[0])
    let users = devices.map { NormalUser($0) }
    // What the first requests make, indexes and plans, is no part of either phase.
    _ = TrialClock.wait(seconds: 60) { users.allSatisfy(\.hasMetEverything) }
    let quiet = phase("alone", users, seconds: min(300, max(3, options.seconds / 4)))
    let before = residentBytes
    let attacker = Attacker(
      port: installation.port, token: token, shapes: options.shapes, connections: 16,
      held: min(1_000, options.connections))
    let beside = phase("beside an attacker", users, seconds: options.seconds)
    let grown = residentBytes - before
    tell(of: attacker.end())
    for user in users { _ = user.take() }
    let began = TrialClock.now
    let isBack = TrialClock.wait(seconds: 60) { users.allSatisfy(\.isServed) }
    say(String(format: "all users are served %.1f s later", TrialClock.seconds(since: began)))
    if !isBack { faults.append("users were not served after the attacker had stopped") }
    for user in users { user.end() }
    say(String(format: "memory of the server: %+.0f MB", Double(grown) / 1e6))
    judge(quiet, beside, grown: grown)
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
    _ name: String, _ users: [NormalUser], seconds: Double
  ) -> NormalUser.Experience {
    for user in users { _ = user.take() }
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
    return all
  }

  private var residentBytes: Int {
    guard let server = installation.server else { return 0 }
    return SoakSample(
      seconds: 0, process: server.identifier, folder: folder + "/none", answers: [], pushes: []
    ).residentBytes
  }

  private func tell(of tallies: [AttackShape: Attacker.Tally]) {
    say("the attacker's requests:")
    for (shape, tally) in tallies.sorted(by: { $0.value.seconds > $1.value.seconds }) {
      let answers = tally.answers.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
      say(
        String(
          format: "  %@ %6d, on average %.0f, most %.0f ms: %@, unanswered %d",
          shape.rawValue.padding(toLength: 34, withPad: " ", startingAt: 0), tally.count,
          tally.seconds / Double(max(tally.count, 1)) * 1e3, tally.longest * 1e3,
          answers.joined(separator: ", "), tally.unanswered))
    }
  }

  private func judge(
    _ quiet: NormalUser.Experience, _ beside: NormalUser.Experience, grown: Int
  ) {
    if let end = installation.server?.end {
      faults.append("the server exited: \(end); \(installation.complaints)")
    }
    for (name, experience) in [("alone", quiet), ("beside the attacker", beside)] {
      if experience.unanswered > 0 {
        faults.append("\(name): \(experience.unanswered) requests were not answered")
      }
      if !Set(experience.refused.keys).isSubset(of: ["TRY_AGAIN_LATER", "THROTTLED"]) {
        faults.append("\(name): users were refused: \(experience.refused)")
      }
    }
    if grown > 1_000_000_000 { faults.append("memory grew by \(grown >> 20) MiB") }
    guard options.judgesTimes else { return }
    if !beside.refused.isEmpty { faults.append("users were refused: \(beside.refused)") }
    if beside.waits.isEmpty { faults.append("no user was answered beside the attacker") }
    let p99 = OverloadPhase.percentile(beside.waits, 0.99)
    if p99 > Self.limit {
      faults.append(
        "beside the attacker 99 of 100 requests of users took up to \(Int(p99 * 1e3)) ms, over "
          + "\(Int(Self.limit * 1e3)) ms")
    }
  }
}
