import HistoryChecking
import JSONCoding

/// A write that a device asks for.
struct WriteRequest {
  var key: RecordKey
  var type: String
  var effect: RecordWrite.Effect
  var condition: RecordWrite.Condition
  /// The mark of the record that is deleted.
  var former: String?

  fileprivate var json: JSONValue {
    var record: [String: JSONValue] = ["recordName": .string(key.name)]
    var operation = "forceDelete"
    if case .tag(let tag) = condition { record["recordChangeTag"] = .string(tag) }
    switch effect {
    case .delete: if case .tag = condition { operation = "delete" }
    case .save(let mark):
      record["recordType"] = .string(type)
      record["fields"] = [
        "mark": ["value": .string(mark), "type": "STRING"],
        "level": ["value": .int(Int64(Marks.level(of: mark))), "type": "INT64"],
      ]
      operation =
        switch condition {
        case .none: "forceUpdate"
        case .absent: "create"
        case .tag: "update"
        }
    }
    return ["operationType": .string(operation), "record": .object(record)]
  }
}

extension CloudDevice {
  /// The database in the path of a request.
  private func scope(_ database: String) -> String { database == "public" ? "public" : "private" }

  /// Writes records of one zone, as one atomic request where they are several.
  ///
  /// - Returns: what is known of each record afterwards; nil of those of which nothing is.
  @discardableResult
  func write(_ requests: [WriteRequest], group: Int) -> [Sight?] {
    guard let first = requests.first else { return [] }
    let body: JSONValue = [
      "zoneID": ["zoneName": .string(first.key.zone)], "atomic": .bool(requests.count > 1),
      "operations": .array(requests.map(\.json)),
    ]
    let began = TrialClock.now
    let reply = ask("database", scope(first.key.database) + "/records/modify", body)
    let ended = TrialClock.now
    var sights: [Sight?] = []
    for (place, request) in requests.enumerated() {
      var span = Span(began: began, ended: ended)
      let outcome: RecordWrite.Outcome
      switch reply {
      case .notSent: return requests.map { _ in nil }
      case .noAnswer, .refusal(_, isDecided: false):
        outcome = .unknown
        span.ended = Span.never
      case .refusal: outcome = .notDone
      case .answer(let answer):
        outcome = Self.outcome(of: answer["records"]?.array?[safe: place], request)
      }
      let mark: String? = if case .save(let mark) = request.effect { mark } else { request.former }
      history.writes.append(
        RecordWrite(
          user: user, device: device, key: request.key, effect: request.effect,
          condition: request.condition, span: span, outcome: outcome,
          group: requests.count > 1 ? group : nil,
          topics: mark.map { Marks.topics(of: request.key, mark: $0) } ?? []))
      switch (outcome, request.effect) {
      case (.done(let tag?), .save(let mark)): sights.append(.record(tag: tag, mark: mark))
      case (.done, .delete), (.refused(.absent?), _): sights.append(.absent)
      default: sights.append(nil)
      }
    }
    return sights
  }

  private static func outcome(_ code: String) -> RecordWrite.Outcome {
    switch code {
    case "CONFLICT", "EXISTS": .refused(nil)
    case "NOT_FOUND": .refused(.absent)
    case "INTERNAL_ERROR": .unknown
    default: .notDone
    }
  }

  private static func outcome(
    of item: JSONValue?, _ request: WriteRequest
  ) -> RecordWrite.Outcome {
    guard let item else { return .unknown }
    if let code = item["serverErrorCode"]?.string { return outcome(code) }
    return .done(tag: request.effect == .delete ? nil : item["recordChangeTag"]?.string)
  }

  private static func sight(_ record: JSONValue) -> Sight? {
    if record["deleted"]?.bool == true { return .absent }
    if let code = record["serverErrorCode"]?.string { return code == "NOT_FOUND" ? .absent : nil }
    guard let tag = record["recordChangeTag"]?.string,
      let mark = record["fields"]?["mark"]?["value"]?.string
    else { return nil }
    return .record(tag: tag, mark: mark)
  }

  /// Looks at records of one zone. Answers nothing when no answer came.
  func fetch(_ keys: [RecordKey]) -> [RecordKey: Sight] {
    guard let first = keys.first else { return [:] }
    let body: JSONValue = [
      "zoneID": ["zoneName": .string(first.zone)],
      "records": .array(keys.map { ["recordName": .string($0.name)] }),
    ]
    let began = TrialClock.now
    guard
      case .answer(let answer) = ask(
        "database", scope(first.database) + "/records/lookup", body),
      let records = answer["records"]?.array
    else { return [:] }
    let span = Span(began: began, ended: TrialClock.now)
    var found: [RecordKey: Sight] = [:]
    for (key, record) in zip(keys, records) {
      guard let sight = Self.sight(record) else { continue }
      found[key] = sight
      history.reads.append(RecordRead(user: user, key: key, span: span, sight: sight))
    }
    return found
  }

  /// Reads what changed in a zone since a token, to the end.
  ///
  /// - Returns: the new token; nil when it did not come to the end.
  func readChanges(
    of zone: String, reader: String, since token: String?, pageSize: Int
  ) -> (token: String, entries: [FeedReading.Entry])? {
    let began = TrialClock.now
    var entries: [FeedReading.Entry] = []
    var next = token
    while true {
      var request: [String: JSONValue] = [
        "zoneID": ["zoneName": .string(zone)], "resultsLimit": .int(Int64(pageSize)),
      ]
      request["syncToken"] = next.map { .string($0) }
      guard
        case .answer(let answer) = ask(
          "database", "private/changes/zone", ["zones": [.object(request)]]),
        let page = answer["zones"]?.array?.first, let records = page["records"]?.array
      else { return nil }
      for record in records {
        guard let name = record["recordName"]?.string, let sight = Self.sight(record) else {
          continue
        }
        entries.append(FeedReading.Entry(name: name, sight: sight))
      }
      next = page["syncToken"]?.string ?? next
      if page["moreComing"]?.bool != true { break }
    }
    history.feeds.append(
      FeedReading(
        reader: reader, database: user, zone: zone,
        span: Span(began: began, ended: TrialClock.now), continues: token != nil,
        entries: entries))
    return next.map { ($0, entries) }
  }
}

extension Array {
  subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
