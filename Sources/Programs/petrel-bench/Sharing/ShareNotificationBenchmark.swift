import CommandInterface
import Foundation
import JSONCoding

/// The benchmark of the notifications of shared zones. Participants have a database subscription in
/// their shared database, and read their notification logs on event streams.
///
/// The baseline is the owner's log: the owner has a subscription in the private database, and reads
/// on another device than the one that saves.
struct ShareNotificationBenchmark: Sendable {
  let users: SharingUsers
  /// The number of zones, each shared with all participants.
  var zones: Int
  var rate: Double
  var seconds: Double
  /// The longest time in seconds to wait for a notification.
  var patience: Double
  var report: BenchmarkReport

  /// Shares the zones, and measures.
  ///
  /// - Throws: `UsageError` if a notification does not come in time. The benchmark goes on if none
  ///   at all reaches a participant.
  func run() async throws {
    let notifications = ZoneNotifications(zones: zones, readers: 1 + users.participants.count)
    let streams = try EventStreams(port: users.port, paths: try prepare()) {
      notifications.receive($0, &$1)
    }
    streams.start()
    defer { streams.stop() }
    // The owner is the first reader.
    let first = try await onThread {
      try saveAndWait(
        in: 0, over: LoadConnection(port: users.port), until: .owner, notifications)
    }
    let reachesAll = try await areParticipantsNotified(since: first, notifications)
    report.set(["areParticipantsNotified": .bool(reachesAll)])
    let readers = reachesAll ? Readers.all : .owner
    if !reachesAll {
      report.line(
        "no participant was notified within \(Int(patience)) s: this server does not notify "
          + "participants, so only the owner's log is measured")
    }
    report.line(
      "from the reply of a save to the log entry, \(Int(rate)) saves a second in \(zones) zones")
    report.line("log of                    saves        p50        p99   greatest  of the baseline")
    // The first second is not counted.
    _ = try await pace(seconds: 1, until: readers, notifications)
    let delays = try await pace(seconds: seconds, until: readers, notifications)
    let owner = Percentiles(delays.map(\.owner))
    show("the owner (baseline)", "owner", owner, baseline: owner)
    if reachesAll {
      let last = Percentiles(delays.compactMap(\.last))
      show("the last of \(users.participants.count) participants", "last", last, baseline: owner)
    }
    try streams.check()
    try await flood(until: readers, notifications)
    try streams.check()
  }

  /// The readers for whose notifications a save waits.
  private enum Readers {
    case owner, all
  }

  /// The seconds from the reply of a save to its log entries.
  private struct Delays: Sendable {
    var owner: Double
    /// The delay of the last participant; nil if no participant was waited for.
    var last: Double?
    var reply: Double
  }

  private static func zoneName(_ zone: Int) -> String { ZoneNotifications.zonePrefix + "\(zone)" }

  /// Shares the zones, and saves the subscriptions. Returns the paths of the event streams: the
  /// owner's, then those of the participants.
  private func prepare() throws -> [String] {
    let connection = try LoadConnection(port: users.port)
    let guids = try (0..<zones).map { zone in
      try users.makeZone(Self.zoneName(zone), over: connection)
      return try users.share(
        zone: Self.zoneName(zone), with: users.participants, over: connection)
    }
    try SharingUsers.subscribe(to: .private, as: users.owner, over: connection)
    var paths = [try ClusterReader.register(token: users.owner.token, over: connection)]
    for participant in users.participants {
      try SharingUsers.accept(guids, as: participant, over: connection)
      try SharingUsers.subscribe(to: .shared, as: participant, over: connection)
      paths.append(try ClusterReader.register(token: participant.token, over: connection))
    }
    return paths
  }

  // MARK: One save at a time in each zone

  /// Saves records at an even rate, in turn in each zone. A zone has one save at a time: the next one
  /// waits for the notifications of the one before, so each notification belongs to a known save.
  private func pace(
    seconds: Double, until readers: Readers, _ notifications: ZoneNotifications
  ) async throws -> [Delays] {
    let start = monotonicSeconds()
    let saves = Int(rate * seconds)
    return try await withThrowingTaskGroup(of: [Delays].self) { group in
      for zone in 0..<zones {
        group.addTask {
          try await onThread {
            let connection = try LoadConnection(port: users.port)
            return try stride(from: zone, to: saves, by: zones).map { number in
              let wait = start + Double(number) / rate - monotonicSeconds()
              // The pause blocks a thread that does nothing else.
              if wait > 0 { usleep(UInt32(wait * 1_000_000)) }
              return try saveAndWait(in: zone, over: connection, until: readers, notifications)
            }
          }
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  /// Saves a record, and waits until readers have a notification of its zone.
  private func saveAndWait(
    in zone: Int, over connection: LoadConnection, until readers: Readers,
    _ notifications: ZoneNotifications
  ) throws -> Delays {
    let before = notifications.arrivals(of: zone)
    try save(in: zone, over: connection)
    let reply = monotonicSeconds()
    let awaited = readers == .owner ? 1 : before.count
    while true {
      let now = notifications.arrivals(of: zone)
      let missing = (0..<awaited).count { now[$0].count == before[$0].count }
      if missing == 0 {
        // A notification that came before the reply was read counts as 0.
        let delays = now[..<awaited].map { max(0, $0.latest - reply) }
        return Delays(owner: delays[0], last: delays.dropFirst().max(), reply: reply)
      }
      guard monotonicSeconds() - reply < patience else {
        throw UsageError(
          "\(missing) of \(awaited) readers had no notification of a save in "
            + "\(Self.zoneName(zone)) within \(Int(patience)) s")
      }
      // The time of arrival does not depend on this pause.
      usleep(500)
    }
  }

  private func save(in zone: Int, over connection: LoadConnection) throws {
    let record = EarthquakeRequests.operation(recordName: UUID().uuidString, station: 1)
    try SharingUsers.post(
      "records/modify", in: .private, as: users.owner,
      #"{"zoneID":{"zoneName":"\#(Self.zoneName(zone))"},"operations":[\#(record)]}"#,
      over: connection)
  }

  /// Waits until all participants have a notification of the first save.
  ///
  /// - Returns: False if none has one in time.
  /// - Throws: `UsageError` if only some have one.
  private func areParticipantsNotified(
    since save: Delays, _ notifications: ZoneNotifications
  ) async throws -> Bool {
    while true {
      let notified = notifications.arrivals(of: 0).dropFirst().count { $0.count > 0 }
      if notified == users.participants.count { return true }
      if monotonicSeconds() - save.reply > patience {
        guard notified == 0 else {
          throw UsageError(
            "\(notified) of \(users.participants.count) participants were notified within "
              + "\(patience) s")
        }
        return false
      }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  private func show(
    _ title: String, _ name: String, _ delays: Percentiles, baseline: Percentiles
  ) {
    let ratio = delays.quantile(0.5) / baseline.quantile(0.5)
    report.row(
      "notifications",
      ["log": .string(name), "saves": .figure(delays.count), "ratioToBaseline": .figure(ratio)],
      delays.figures())
    report.line(
      title.padding(toLength: 23, withPad: " ", startingAt: 0)
        + String(format: "%8d", delays.count) + delays.text(0.5).leftPadding(to: 11)
        + delays.text(0.99).leftPadding(to: 11) + delays.text(1).leftPadding(to: 11)
        + String(format: "%17.2f", ratio))
  }

  // MARK: As fast as possible

  /// Saves in all zones as fast as the server answers, and reports the rates of saves and of
  /// notifications. The server may combine the notifications of a zone.
  private func flood(
    until readers: Readers, _ notifications: ZoneNotifications
  ) async throws {
    let before = notifications.counts
    let start = monotonicSeconds()
    let saves = try await withThrowingTaskGroup(of: Int.self) { group in
      for zone in 0..<zones {
        group.addTask {
          try await onThread {
            let connection = try LoadConnection(port: users.port)
            var saves = 0
            while monotonicSeconds() - start < seconds {
              try save(in: zone, over: connection)
              saves += 1
            }
            return saves
          }
        }
      }
      return try await group.reduce(0, +)
    }
    let length = monotonicSeconds() - start
    let entries = zip(notifications.counts, before).map { Double($0 - $1) / length }
    report.set([
      "savesPerSecond": .figure(Double(saves) / length),
      "ownerNotificationsPerSecond": .figure(entries[0]),
    ])
    report.line("one save after the other in each zone, as fast as the server answers:")
    report.line(
      String(
        format: "%.0f saves/s, %.0f log entries/s of the owner (baseline)",
        Double(saves) / length, entries[0]))
    guard readers == .all else { return }
    let participants = entries.dropFirst().reduce(0, +)
    report.set([
      "participantNotificationsPerSecond": .figure(participants),
      "participantNotificationsRatioToBaseline": .figure(participants / entries[0]),
    ])
    report.line(
      String(
        format: "%.0f log entries/s of all participants, %.2f of the baseline", participants,
        participants / entries[0]))
  }
}
