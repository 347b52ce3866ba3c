import CloudKitModel
import Foundation
import PropertyTesting
import WebServices

/// Random values of the model, among them those that are hard on the wire: empty and long texts,
/// control characters, numbers at the ends of their ranges.
struct RandomModel {
  var generator: SeededGenerator
  /// The owners that zones may have.
  var owners: [String]

  init(seed: Int, owners: [String] = [ZoneID.currentOwnerName, "_other"]) {
    generator = SeededGenerator(seed: seed)
    self.owners = owners
  }

  mutating func bool() -> Bool { Bool.random(using: &generator) }

  mutating func maybe<Value>(_ make: (inout RandomModel) -> Value) -> Value? {
    bool() ? make(&self) : nil
  }

  private mutating func some<Value>(
    _ lengths: ClosedRange<Int> = 0...3, _ make: (inout RandomModel) -> Value
  ) -> [Value] {
    (0..<Int.random(in: lengths, using: &generator)).map { _ in make(&self) }
  }

  // MARK: Values

  /// A text as names, tags and tokens may be: without U+0000.
  mutating func text() -> String { fieldText().filter { $0 != "\u{0}" } }

  /// A text as a string field may have it.
  mutating func fieldText() -> String {
    some(0...4) {
      $0.generator.pick([
        "a", "Bula vinaka ", "\"", "\\", "\u{0}", "\u{1F}", "\n", "/", "é", "e\u{301}", "🌋",
        "\u{2028}",
        "null", "0",
      ])
    }.joined()
  }

  mutating func name() -> String {
    generator.pick(["n", "Note 7", "a/b", "\"quoted\"", "{}", String(repeating: "x", count: 255)])
  }

  private mutating func fieldName() -> String {
    generator.pick(["title", "magnitude", "place", "a_1", "value", "type"])
  }

  private mutating func integer() -> Int64 {
    let wide = Int64.random(in: .min ... .max, using: &generator)
    return generator.pick([0, 1, -1, .min, .max, wide, wide >> 40, 9_007_199_254_740_993])
  }

  /// A date that a value may have.
  private mutating func date() -> Timestamp {
    let (first, last) = (Timestamp.storable.lowerBound, Timestamp.storable.upperBound)
    let any = Int64.random(in: first.milliseconds...last.milliseconds, using: &generator)
    return generator.pick([first, last] + [0, 1, -1, any].map { Timestamp(milliseconds: $0) })
  }

  /// Never a NaN, which would not equal itself.
  private mutating func double() -> Double {
    let bits = Double(bitPattern: generator.next())
    return generator.pick([
      0, 5, -0.5, 0.1, 1e300, .leastNonzeroMagnitude, .infinity, -.infinity, bits.isNaN ? 1 : bits,
    ])
  }

  mutating func location() -> Location {
    var location = Location(
      latitude: .random(in: -90...90, using: &generator),
      longitude: generator.pick([-180, 180, .random(in: -180...180, using: &generator)]))
    location.horizontalAccuracy = maybe { .random(in: -1...100, using: &$0.generator) }
    location.verticalAccuracy = maybe { .random(in: -1...100, using: &$0.generator) }
    location.altitude = maybe { .random(in: -100...9000, using: &$0.generator) }
    location.speed = maybe { .random(in: -1...300, using: &$0.generator) }
    location.course = maybe { .random(in: -1...360, using: &$0.generator) }
    location.timestamp = maybe { $0.date() }
    return location
  }

  mutating func zoneID() -> ZoneID {
    ZoneID(
      zoneName: generator.pick([ZoneID.defaultZoneName, "Notes", name()]),
      ownerName: generator.pick(owners))
  }

  mutating func recordID() -> RecordID { RecordID(recordName: name(), zoneID: zoneID()) }

  mutating func reference() -> Reference {
    Reference(
      recordName: name(), zoneID: maybe { $0.zoneID() },
      action: generator.pick(Reference.Action.allCases))
  }

  private mutating func asset() -> Asset {
    Asset(
      fileChecksum: text(), size: integer(), referenceChecksum: maybe { $0.text() },
      wrappingKey: maybe { $0.text() }, receipt: maybe { $0.text() },
      downloadURL: maybe { _ in "https://example.com/${f}" })
  }

  private mutating func value(_ type: ValueType) -> RecordValue {
    switch type {
    case .string: .string(fieldText())
    case .int64: .int64(integer())
    case .double: .double(double())
    case .timestamp: .timestamp(date())
    case .bytes: .bytes(Data(some(0...9) { UInt8.random(in: 0...255, using: &$0.generator) }))
    case .location: .location(location())
    case .reference: .reference(reference())
    case .asset: .asset(asset())
    }
  }

  mutating func value() -> RecordValue {
    let type = generator.pick(ValueType.allCases)
    return generator.pick([false, false, true])
      ? .list(of: type, some { $0.value(type) }) : value(type)
  }

  // MARK: Records

  private mutating func stamp() -> Record.Stamp {
    Record.Stamp(
      timestamp: Timestamp(milliseconds: integer()), userRecordName: name(),
      deviceID: maybe { $0.text() })
  }

  mutating func record() -> Record {
    var record = Record(recordID: recordID(), recordType: generator.pick(["Note", "Quake"]))
    record.recordChangeTag = maybe { $0.text() }
    record.created = maybe { $0.stamp() }
    record.modified = maybe { $0.stamp() }
    record.parent = maybe { $0.reference() }
    record.share = maybe { $0.reference() }
    record.shortGUID = maybe { $0.text() }
    for name in some(0...6, { $0.fieldName() }) { record.fields[name] = value() }
    return record
  }

  mutating func recordOperation() -> RecordOperation {
    var operation = RecordOperation(
      kind: generator.pick(RecordOperation.Kind.allCases), recordID: recordID(),
      recordType: maybe { _ in "Note" }, recordChangeTag: maybe { $0.text() })
    // The answer to a deletion needs no more than its name.
    guard operation.kind != .delete, operation.kind != .forceDelete else { return operation }
    for name in some(0...4, { $0.fieldName() }) {
      operation.fields.updateValue(maybe { $0.value() }, forKey: name)
    }
    operation.parent = generator.pick([nil, .some(nil), .some(reference())])
    operation.createsShortGUID = generator.pick([false, true])
    return operation
  }

  // MARK: Queries

  private mutating func key() -> FieldKey {
    generator.pick([
      .field(fieldName()), .field(fieldName()), .system(generator.pick(SystemField.allCases)),
    ])
  }

  /// A filter that passes its own validation.
  mutating func filter() -> Filter {
    while true {
      let comparator = generator.pick(CloudKitModel.Comparator.allCases)
      let searchesText = comparator.relation.comparesTokens
      var filter = Filter(
        searchesText && bool() ? .allText : key(), comparator,
        value(),
        distance: comparator == .near ? generator.pick([0, 0.5, 2e7]) : nil,
        options: Filter.Options(rawValue: UInt8.random(in: 0...3, using: &generator)))
      if !comparator.relation.comparesList, Int.random(in: 0..<8, using: &generator) == 0 {
        filter.value = nil
      }
      if (try? filter.validate()) != nil { return filter }
    }
  }

  mutating func query() -> Query {
    Query(
      recordType: generator.pick(["Note", "cloudkit.share"]), filters: some { $0.filter() },
      sortKeys: some {
        SortKey(
          $0.key(), ascending: $0.bool(),
          relativeLocation: $0.maybe { $0.location() })
      })
  }

  // MARK: Subscriptions

  private mutating func notificationInfo() -> NotificationInfo {
    var info = NotificationInfo()
    info.alertBody = maybe { $0.fieldText() }
    info.alertLocalizationKey = maybe { $0.text() }
    info.alertLocalizationArgs = maybe { $0.some { $0.fieldName() } }
    info.title = maybe { $0.fieldText() }
    info.titleLocalizationKey = maybe { $0.text() }
    info.titleLocalizationArgs = maybe { $0.some { $0.fieldName() } }
    info.subtitle = maybe { $0.fieldText() }
    info.subtitleLocalizationKey = maybe { $0.text() }
    info.subtitleLocalizationArgs = maybe { $0.some { $0.fieldName() } }
    info.alertActionLocalizationKey = maybe { $0.text() }
    info.alertLaunchImage = maybe { $0.text() }
    info.soundName = maybe { $0.text() }
    info.desiredKeys = maybe { $0.some { $0.fieldName() } }
    info.shouldBadge = bool()
    info.shouldSendContentAvailable = bool()
    info.shouldSendMutableContent = bool()
    info.category = maybe { $0.text() }
    info.collapseIDKey = maybe { $0.text() }
    return info
  }

  mutating func subscription() -> Subscription {
    let recordType = maybe { _ in "Note" }
    let kinds: [Subscription.Kind] = [
      .query(
        query(), zoneID: maybe { $0.zoneID() },
        options: Subscription.Options(rawValue: .random(in: 0...15, using: &generator))),
      .recordZone(zoneID(), recordType: recordType), .database(recordType: recordType),
    ]
    return Subscription(
      subscriptionID: text(), kind: generator.pick(kinds),
      notificationInfo: maybe { $0.notificationInfo() })
  }

  mutating func subscriptionOperation() -> SubscriptionOperation {
    generator.pick([.save(subscription()), .delete(subscriptionID: text())])
  }

  mutating func zoneOperation() -> ZoneOperation {
    generator.pick([.create(zoneID()), .delete(zoneID())])
  }

  // MARK: Errors

  mutating func serviceError() -> ServiceError {
    ServiceError(
      generator.pick(ServerErrorCode.all + [ServerErrorCode(rawValue: "NEWER_THAN_THIS")]),
      text(), uuid: text(), retryAfter: maybe { _ in 2.5 }, redirectURL: maybe { $0.text() },
      serverRecord: maybe { $0.record() }, limit: maybe { _ in 400 })
  }

  // MARK: Change feeds

  mutating func recordChangesRequest() -> RecordChangesRequest {
    var request = RecordChangesRequest(zoneID: zoneID(), syncToken: maybe { $0.text() })
    request.resultsLimit = generator.pick([0, 1, 200])
    request.isReversed = bool()
    request.desiredKeys = maybe { _ in ["a", "b"] }
    request.desiredRecordTypes = maybe { _ in ["Note"] }
    request.numbersAsStrings = bool()
    return request
  }

  mutating func recordChange() -> RecordChange {
    bool() ? .saved(record()) : .deleted(recordID(), recordType: generator.pick(["Note", "Quake"]))
  }

  mutating func recordChangesResponse() -> RecordChangesResponse {
    RecordChangesResponse(
      zoneID: zoneID(), changes: some { $0.recordChange() }, syncToken: text(),
      moreComing: bool(), clientChangeTokenData: maybe { Data($0.text().utf8) })
  }
}
