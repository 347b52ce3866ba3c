import Foundation
import HistoryChecking
import JSONCoding

/// Asks a server for twice what it can do, and holds it up with clients that do not behave; looks whether
/// it refuses what is too much, keeps what it acknowledged, lets others go on, and comes back.
final class OverloadTrial {
  struct Options {
    /// The duration that the user gave; `nil` for the default.
    private var told: Double?
    var connections = 12_000
    /// Whether an attacker comes in place of a flood.
    var hasAttacker = false
    /// The shapes of the attacker's requests.
    var shapes = AttackShape.allCases
    /// The modes of the attacker, one after the other.
    var modes = AttackMode.allCases
    var engine = Installation.Engine.sqlite
    var programs = RunningProgram.ownFolder
    /// Whether it is judged how long users wait; not where something else keeps the machine busy.
    var judgesTimes = true

    init(_ words: ArraySlice<String>) throws {
      var options = TrialOptions(words)
      while let word = options.next() {
        switch word {
        case "--minutes": told = 60 * Double(try options.number(of: word))
        case "--seconds": told = Double(try options.number(of: word))
        case "--attacker": hasAttacker = true
        case "--shapes":
          let part = try options.value(of: word)
          shapes = AttackShape.allCases.filter { $0.rawValue.contains(part) }
          guard !shapes.isEmpty else {
            throw TrialError("--shapes: no name of a shape contains '\(part)'")
          }
        case "--modes":
          let part = try options.value(of: word)
          modes = AttackMode.allCases.filter { $0.rawValue.contains(part) }
          guard !modes.isEmpty else {
            throw TrialError("--modes: no name of a mode contains '\(part)'")
          }
        case "--engine": engine = try Installation.Engine(option: options.value(of: word))
        case "--connections": connections = try options.number(of: word)
        case "--programs": programs = try options.value(of: word)
        case "--untimed": judgesTimes = false
        default: throw TrialError("unknown option '\(word)'")
        }
      }
    }

    /// A flood shows in minutes what it does; an attacker may have an hour for it.
    var seconds: Double { told ?? (hasAttacker ? 3_600 : 120) }
  }

  private let options: Options
  private let installation: Installation
  private let folder: String
  private var faults: [String] = []
  private var tokens: [String] = []
  /// By user, a request until the length of its body.
  private var heads: [[UInt8]] = []
  private var acknowledged: [Int] = []
  private var next = 0
  private static let users = 16

  init(_ options: Options) throws {
    self.options = options
    folder = NSTemporaryDirectory() + "petrel-overload-\(UUID().uuidString)"
    installation = try Installation(
      in: folder, engine: options.engine, programs: options.programs, settings: [:],
      failsOnDemand: false)
  }

  /// - Returns: whether the server did what it should.
  func run() throws -> Bool {
    defer { installation.end(keeping: false) }
    tokens = try (0..<Self.users).map { try installation.addUser("user\($0)") }
    let looker = CloudDevice(
      user: "looker", device: "phone", token: try installation.addUser("looker"),
      container: Installation.container)
    guard try installation.start() else {
      throw TrialError("the server does not start: \(installation.complaints)")
    }
    heads = tokens.map { token in
      let token = token.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      return Array(
        ("POST /database/1/\(Installation.container)/development/private/records/modify"
          + "?ckWebAuthToken=\(token) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
          + "Content-Length: ").utf8)
    }
    looker.port = installation.port
    looker.patience = 30
    let key = RecordKey(database: "looker", zone: "_defaultZone", name: "seen")
    looker.write(
      [
        WriteRequest(
          key: key, type: "Seen", effect: .save(mark: "seen-1-L1"), condition: .none)
      ], group: 0)
    let bystander = Bystander(looker, looksAt: key)
    // The time is long enough for a rate, even in a short test.
    let measuring = min(10, max(3, options.seconds / 4))
    let calm = phase(
      "as much as it can", seconds: measuring, rate: nil, connections: 64, bystander)
    let capacity = calm.savedRate
    let flood = phase(
      "twice as much", seconds: options.seconds, rate: 2 * capacity,
      connections: options.connections, bystander)
    let back = phase("after that", seconds: measuring, rate: nil, connections: 64, bystander)
    judge(calm, flood, back)
    for clients in HostileClients.allCases { besiege(by: clients, bystander, calm) }
    bystander.end()
    checkAcknowledged()
    for fault in faults { say("FAULT: \(fault)") }
    return faults.isEmpty
  }

  private func expect(_ isSo: Bool, _ fault: @autoclosure () -> String) {
    if !isSo { faults.append(fault()) }
  }

  private func phase(
    _ name: String, seconds: Double, rate: Double?, connections: Int, _ bystander: Bystander
  ) -> OverloadPhase {
    var phase = OverloadPhase(name)
    _ = bystander.take()
    let loop = LoadLoop(port: installation.port, connections: connections)
    let first = next
    var acknowledged: [Int] = []
    next = loop.run(
      seconds: seconds, rate: rate, from: first, request: { self.request($0) },
      ended: { ending in
        phase.note(ending)
        if ending.status == 200, ending.code == nil { acknowledged.append(ending.number) }
      })
    self.acknowledged += acknowledged
    phase.seconds = seconds
    phase.offered = rate ?? Double(next - first) / seconds
    (phase.bystander, phase.bystanderRefused) = bystander.take()
    phase.residentBytes = residentBytes
    say(phase.text)
    if loop.crowdedOut > 0 { say("  \(loop.crowdedOut) requests had no free connection") }
    return phase
  }

  private var residentBytes: Int {
    guard let server = installation.server else { return 0 }
    return SoakSample(
      seconds: 0, process: server.identifier, folder: folder + "/none", answers: [], pushes: []
    ).residentBytes
  }

  private func request(_ number: Int) -> [UInt8] {
    let body =
      #"{"atomic":false,"operations":[{"operationType":"create","record":{"recordName":"n\#(number)","#
      + #""recordType":"Load","fields":{"number":{"value":\#(number)}}}}]}"#
    return heads[number % Self.users] + Array("\(body.utf8.count)\r\n\r\n\(body)".utf8)
  }

  private func judge(_ calm: OverloadPhase, _ flood: OverloadPhase, _ back: OverloadPhase) {
    expect(!flood.refused.isEmpty, "nothing was refused under twice the load")
    expect(
      Set(flood.refused.keys).isSubset(of: ["TRY_AGAIN_LATER", "THROTTLED"]),
      "refusals under load are \(flood.refused)")
    expect(
      flood.refusedWithoutTime == 0,
      "\(flood.refusedWithoutTime) refusals lack a time for the retry")
    expect(flood.unanswered == 0, "\(flood.unanswered) requests were not answered")
    expect(back.refused.isEmpty, "after the load, the server refused: \(back.refused)")
    // Measured: 55 to 85 KB for each connection, beside what the store caches of records.
    let permitted = 200_000_000 + options.connections * 100_000
    expect(
      flood.residentBytes < calm.residentBytes + permitted,
      "memory went from \(calm.residentBytes >> 20) to \(flood.residentBytes >> 20) MiB")
    guard options.judgesTimes else { return }
    expect(
      flood.savedRate > calm.savedRate * 0.6,
      "under load, the server saved \(Int(flood.savedRate))/s instead of \(Int(calm.savedRate))/s")
    expect(
      OverloadPhase.percentile(flood.saved, 0.99) < 10,
      "accepted requests waited too long: \(OverloadPhase.percentile(flood.saved, 0.99)) s")
    expect(
      back.savedRate > calm.savedRate * 0.7,
      "after the load, the server saved \(Int(back.savedRate))/s instead of \(Int(calm.savedRate))/s"
    )
  }

  /// Lets clients that do not behave hold connections, and looks what a well-behaved one feels of it.
  private func besiege(
    by clients: HostileClients, _ bystander: Bystander, _ calm: OverloadPhase
  ) {
    let before = residentBytes
    _ = bystander.take()
    let seconds = min(20, max(3, options.seconds / 6))
    let (made, closed) = clients.run(port: installation.port, seconds: seconds)
    let (waits, refused) = bystander.take()
    let p99 = OverloadPhase.percentile(waits, 0.99)
    let grown = residentBytes - before
    say(
      String(
        format:
          "%@: %d connections, %d closed by the server; a bystander waits p99 %.0f ms, refused %d; "
          + "memory %+.0f MB",
        clients.rawValue.padding(toLength: 28, withPad: " ", startingAt: 0), made, closed,
        p99 * 1e3,
        refused, Double(grown) / 1e6))
    expect(made == clients.connections, "\(clients.rawValue): \(made) connections were opened")
    expect(refused == 0, "\(clients.rawValue): the bystander was refused \(refused) times")
    expect(
      p99 < 0.5 || !options.judgesTimes, "\(clients.rawValue): the bystander waited \(p99) s")
    expect(grown < 500_000_000, "\(clients.rawValue): memory grew by \(grown >> 20) MiB")
  }

  /// Everything that was acknowledged must be there.
  private func checkAcknowledged() {
    var missing = 0
    let byUser = Dictionary(grouping: acknowledged) { $0 % Self.users }
    for (user, numbers) in byUser {
      let device = CloudDevice(
        user: "user\(user)", device: "check", token: tokens[user],
        container: Installation.container)
      device.port = installation.port
      var rest = numbers[...]
      while !rest.isEmpty {
        let piece = rest.prefix(200)
        rest = rest.dropFirst(200)
        let body: JSONValue = [
          "records": .array(piece.map { ["recordName": .string("n\($0)")] })
        ]
        let found = device.insist("database", "private/records/lookup", body)
        missing +=
          piece.count
          - (found?.answer["records"]?.array?.count { $0["serverErrorCode"] == nil } ?? 0)
      }
    }
    say("\(acknowledged.count) saves were acknowledged, \(missing) of them are missing")
    expect(missing == 0, "\(missing) acknowledged saves are missing")
  }
}
