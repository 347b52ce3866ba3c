import Foundation
import JSONCoding
import Testing
import Waiting

@testable import PetrelServer
@testable import StoreModel

struct EventStreamTests {
  private static let subscription = """
    {"subscriptionType": "query", "subscriptionID": "s", "firesOn": ["create"],
     "query": {"recordType": "Note"}, "notificationInfo": {"alertBody": "New", "shouldBadge": true}}
    """

  private struct Event {
    var id: String
    var json: JSONValue

    var record: String { json["ck"]?["qry"]?["rid"]?.string ?? "-" }
    var badge: Int64? { json["aps"]?["badge"]?.int }
  }

  /// Opens a stream.
  private static func open(
    _ path: String, of service: Service, after lastEventID: String? = nil
  ) throws -> Exchange {
    try service.client.begin(
      "GET", path,
      headers: "Accept: text/event-stream\r\n"
        + (lastEventID.map { "Last-Event-ID: \($0)\r\n" } ?? ""))
  }

  /// Waits until a stream has begun, and that of its reader before it is over.
  private static func hasBegun(_ stream: Exchange) async throws {
    _ = try await stream.text { $0.contains("retry: 2000\n\n") }
  }

  /// The events in what has come of a stream. A chunk has one or more.
  private static func events(in text: String) throws -> [Event] {
    try text.components(separatedBy: "id: ").dropFirst().map { part in
      let lines = part.components(separatedBy: "\n")
      try #require(lines.count > 2 && lines[1].hasPrefix("data: ") && lines[2].isEmpty)
      return Event(id: lines[0], json: try JSONValue(parsing: String(lines[1].dropFirst(6))))
    }
  }

  private static func events(_ count: Int, from stream: Exchange) async throws -> [Event] {
    let text = try await stream.text {
      $0.components(separatedBy: "\ndata: ").count > count && $0.hasSuffix("\n\n\r\n")
    }
    return try events(in: text)
  }

  private static func records(upTo name: String, from stream: Exchange) async throws -> [String] {
    let text = try await stream.text {
      $0.contains(#""rid":"\#(name)""#) && $0.hasSuffix("\n\n\r\n")
    }
    return try events(in: text).map(\.record)
  }

  /// Waits until the cursor of alice's reader is at the end of the log: a stream moves the cursor
  /// after it has written events.
  private static func hasAcknowledgedAll(_ service: Service) async throws {
    let reader = try #require(
      await service.store.devices.deviceTokens(of: service.alice.recordName).first)
    try await eventually("the stream moves the cursor") {
      try await service.store.courier.courierEntries(
        forToken: reader.token, after: CourierPosition(), limit: 1
      ).first == nil
    }
  }

  private static func save(_ names: [String], in service: Service) async throws {
    for name in names {
      _ = try await service.modify(Service.operation("create", name), as: service.bob)
    }
  }

  @Test("brings each notification once, in order, as the poll would")
  func order() async throws {
    try await withService { service in
      try await service.subscribe(Self.subscription)
      let path = try await service.makeReader(as: service.alice)
      let stream = try Self.open(path, of: service)
      let head = try await stream.text { $0.contains("retry: 2000\n\n") }
      #expect(head.hasPrefix("HTTP/1.1 200"))
      #expect(head.contains("Content-Type: text/event-stream"))
      #expect(head.contains("Cache-Control: no-store"))
      try await Self.save(["a", "b", "c"], in: service)
      let events = try await Self.events(3, from: stream)
      #expect(events.map(\.record) == ["a", "b", "c"])
      #expect(events.map(\.badge) == [1, 2, 3])
      #expect(Set(events.map(\.id)).count == 3)
      #expect(events[0].json["ck"]?["cid"]?.string == Service.container)
      stream.abandon()
    }
  }

  @Test("brings all notifications that have waited, in order and with their badges")
  func backlog() async throws {
    try await withService { service in
      try await service.subscribe(Self.subscription)
      let path = try await service.makeReader(as: service.alice)
      let names = (100..<200).map { "n\($0)" }
      try await Self.save(names, in: service)
      let stream = try Self.open(path, of: service)
      let events = try await Self.events(names.count, from: stream)
      #expect(events.map(\.record) == names)
      #expect(events.map(\.badge) == (1...100).map { Int64($0) })
      try await Self.hasAcknowledgedAll(service)
      stream.abandon()
    }
  }

  @Test("goes on behind the last event that its reader names, else behind what was written")
  func resuming() async throws {
    try await withService { service in
      try await service.subscribe(Self.subscription)
      let path = try await service.makeReader(as: service.alice)
      let first = try Self.open(path, of: service)
      try await Self.save(["a", "b", "c"], in: service)
      let ids = try await Self.events(3, from: first).map(\.id)
      try await Self.hasAcknowledgedAll(service)
      first.abandon()

      let again = try Self.open(path, of: service, after: ids[0])
      try await Self.save(["d"], in: service)
      let events = try await Self.events(3, from: again)
      #expect(events.map(\.record) == ["b", "c", "d"])
      #expect(events.last?.badge == 4)
      try await Self.hasAcknowledgedAll(service)
      again.abandon()

      let byQuery = try Self.open(path + "&lastEventId=\(ids[2])", of: service)
      #expect(try await Self.events(1, from: byQuery).map(\.record) == ["d"])
      byQuery.abandon()

      let tokens = service.store.secrets.tokens
      let place = try #require(CourierPosition(ids[0], sealedBy: tokens)?.sequences.first)
      let future = CourierPosition("\(place.key.rawValue)-\(place.value + 999_999_999)")
      for (name, last) in [("e", nil), ("f", try future?.text(sealedBy: tokens))] {
        let stream = try Self.open(path, of: service, after: last)
        try await Self.hasBegun(stream)
        try await Self.save([name], in: service)
        #expect(try await Self.records(upTo: name, from: stream) == [name])
        try await Self.hasAcknowledgedAll(service)
        stream.abandon()
      }
    }
  }

  @Test("leaves to the next stream what comes after its reader has left")
  func readerLeavesBefore() async throws {
    try await withService { service in
      try await service.subscribe(Self.subscription)
      let path = try await service.makeReader(as: service.alice)
      for number in 1...10 {
        let gone = try Self.open(path, of: service)
        try await Self.hasBegun(gone)
        gone.abandon()
        // The server has not noticed yet that the reader has left.
        try await Self.save(["n\(number)"], in: service)
        try await service.waitForDispatch(of: number)
        let stream = try Self.open(path, of: service)
        #expect(try await Self.events(1, from: stream).map(\.record) == ["n\(number)"])
        try await Self.hasAcknowledgedAll(service)
        stream.abandon()
      }
    }
  }

  @Test("ends when its reader opens another, which gets what comes from then on")
  func oneOfReader() async throws {
    try await withService { service in
      try await service.subscribe(Self.subscription)
      let path = try await service.makeReader(as: service.alice)
      var streams: [Exchange] = []
      for name in ["a", "b", "c", "d"] {
        let stream = try Self.open(path, of: service)
        try await Self.hasBegun(stream)
        // Of the one before the server knows only that it can be written to.
        if let before = streams.last {
          #expect(try await before.text { _ in false }.hasSuffix("0\r\n\r\n"))
        }
        streams.append(stream)
        try await Self.save([name], in: service)
        let records = try await Self.records(upTo: name, from: stream)
        #expect(records.last == name && records.count <= 2, "\(records)")
      }
      for stream in streams { stream.abandon() }
    }
  }

  @Test("leaves what it wrote to no poll, and is left what polls acknowledged")
  func besidePolls() async throws {
    try await withService(.init(pollTime: 0)) { service in
      try await service.subscribe(Self.subscription)
      let path = try await service.makeReader(as: service.alice)
      try await Self.save(["a", "b"], in: service)
      try await eventually("the poll must answer") {
        try await service.poll(path).json["ck"] != nil
      }
      let stream = try Self.open(path, of: service)
      let events = try await Self.events(1, from: stream)
      #expect(events.first?.record == "a" || events.first?.record == "b")
      try await eventually("nothing is left to poll") {
        try await service.poll(path).body.isEmpty
      }
      stream.abandon()
    }
  }

  @Test("shows that it lives, and ends with its token")
  func keepAlive() async throws {
    try await withService { service in
      let path = try await service.makeReader(as: service.alice)
      let stream = try Self.open(path, of: service)
      _ = try await stream.text { $0.contains("retry: 2000\n\n") }
      service.clock.advance(bySeconds: 16)
      _ = try await stream.text { $0.contains("\n:\n\n") }
      service.clock.advance(bySeconds: 13 * 3600)
      let whole = try await stream.text { _ in false }
      #expect(whole.hasSuffix("0\r\n\r\n"))
      let refused = try await service.client.send(
        "GET", path, headers: "Accept: text/event-stream\r\n")
      #expect(refused.failure == "401 AUTHENTICATION_FAILED")
    }
  }

  @Test("is refused when its user has as many as one user may have, and other users have theirs")
  func limitByUser() async throws {
    var settings = ServiceSettings()
    settings.limits.eventStreamsPerUser = 2
    try await withService(settings) { service in
      let paths = try await [
        service.makeReader(as: service.alice, device: "a"),
        service.makeReader(as: service.alice, device: "b"),
        service.makeReader(as: service.alice, device: "c"),
        service.makeReader(as: service.bob, device: "d"),
      ]
      let open = try paths[..<2].map { try Self.open($0, of: service) }
      for stream in open { try await Self.hasBegun(stream) }
      let refused = try await Self.open(paths[2], of: service).answer()
      #expect(refused.status == 429, "\(refused.text)")
      #expect(refused.headers["retry-after"] == "60")
      #expect(refused.json["reason"]?.string?.contains("2 event streams") == true)
      let other = try Self.open(paths[3], of: service)
      try await Self.hasBegun(other)
      // A poll is no stream.
      let poll = try service.client.begin("GET", paths[2])
      open[0].abandon()
      try await eventually("the server notices that a stream has ended") {
        let stream = try Self.open(paths[0], of: service)
        defer { stream.abandon() }
        return try await stream.text { $0.contains("\r\n\r\n") }.hasPrefix("HTTP/1.1 200")
      }
      for stream in open + [other, poll] { stream.abandon() }
    }
  }

  @Test("refuses what is no event of a stream")
  func badPosition() async throws {
    try await withService { service in
      let path = try await service.makeReader(as: service.alice)
      for text in ["x", "1-2-3", "1-", "-1-2", "0-1", "1-2..3-4"] {
        let answer = try await service.client.send(
          "GET", path, headers: "Accept: text/event-stream\r\nLast-Event-ID: \(text)\r\n")
        #expect(answer.failure == "400 BAD_REQUEST", "\(text)")
        #expect(answer.reason.contains("Last-Event-ID"))
      }
    }
  }

  @Test("ends when the server stops")
  func stopping() async throws {
    try await withService { service in
      let path = try await service.makeReader(as: service.alice)
      let stream = try Self.open(path, of: service)
      _ = try await stream.text { $0.contains("retry: 2000\n\n") }
      try await service.restart()
      #expect(try await stream.text { _ in false }.contains("retry: 2000"))
    }
  }
}
