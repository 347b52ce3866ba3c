import CloudKitModel
import Foundation
import PropertyTesting
import Testing
import WebServices

/// Writes on one side and reads on the other, with values that both sides name alike.
struct RoundTripTests {
  private static let seeds = Seeds.some(40)
  private let context = MessageContext(ownerNaming: .explicit)

  @Test("Operations on records", arguments: seeds)
  func recordOperations(seed: Int) throws {
    var random = RandomModel(seed: seed)
    let operations = (0..<10).map { _ in random.recordOperation() }
    let isAtomic = random.bool()
    let desiredKeys: Set<String>? = random.maybe { _ in ["b", "a"] }
    let request = ModifyRecordsRequest(
      operations: operations, isAtomic: isAtomic, desiredKeys: desiredKeys)
    let read = try ModifyRecordsRequest(parsing: request.body(context: context), context: context)
    #expect(try read.operations.map { try $0.get() } == operations)
    #expect(read.isAtomic == isAtomic)
    #expect(read.desiredKeys == desiredKeys)
    #expect(read.body(context: context) == request.body(context: context))
  }

  @Test("Records, deletions and errors of an answer", arguments: seeds)
  func records(seed: Int) throws {
    var random = RandomModel(seed: seed)
    var items: [Result<RecordsResponse.Item, FailedItem>] = []
    for _ in 0..<6 {
      items.append(.success(.record(random.record())))
      items.append(.success(.deleted(random.recordID())))
      let id = random.recordID()
      let name = random.generator.pick([
        FailedItem.Name.record(recordName: id.recordName, zoneID: id.zoneID),
        .record(recordName: id.recordName, zoneID: nil), .zone(id.zoneID),
        .subscription(subscriptionID: random.text()), .unknown,
      ])
      items.append(.failure(FailedItem(name, random.serviceError())))
    }
    let response = RecordsResponse(records: items, continuationMarker: random.maybe { $0.text() })
    let body = response.body(context: context)
    let read = try RecordsResponse(parsing: body, context: context)
    #expect(read.records == items)
    #expect(read.continuationMarker == response.continuationMarker)
    #expect(read.body(context: context) == body)
  }

  @Test("Numbers as strings, which keep their type", arguments: seeds)
  func numbersAsStrings(seed: Int) throws {
    var random = RandomModel(seed: seed)
    let items: [Result<RecordsResponse.Item, FailedItem>] = (0..<10).map { _ in
      .success(.record(random.record()))
    }
    let body = RecordsResponse(records: items).body(
      context: MessageContext(ownerNaming: .explicit, numbersAsStrings: true))
    #expect(try RecordsResponse(parsing: body, context: context).records == items)
  }

  @Test("Queries with their filters and sorts", arguments: seeds)
  func queries(seed: Int) throws {
    var random = RandomModel(seed: seed)
    let request = QueryRecordsRequest(
      query: random.query(), zoneID: random.maybe { $0.zoneID() },
      resultsLimit: random.generator.pick([0, 1, 200]),
      continuationMarker: random.maybe { $0.text() }, desiredKeys: random.maybe { _ in ["a"] })
    let body = request.body(context: context)
    let read = try QueryRecordsRequest(parsing: body, context: context)
    #expect(read.query == request.query)
    #expect(read.zoneID == request.zoneID)
    #expect(read.resultsLimit == request.resultsLimit)
    #expect(read.continuationMarker == request.continuationMarker)
    #expect(read.desiredKeys == request.desiredKeys)
    #expect(read.body(context: context) == body)
  }

  @Test("Every comparator, with a field and with a system field")
  func comparators() throws {
    var random = RandomModel(seed: 0)
    var missing = Set(CloudKitModel.Comparator.allCases)
    for _ in 0..<2000 where !missing.isEmpty {
      let query = Query(recordType: "Note", filters: [random.filter()])
      let request = QueryRecordsRequest(query: query, zoneID: nil)
      let read = try QueryRecordsRequest(parsing: request.body(context: context), context: context)
      #expect(read.query == query)
      missing.remove(query.filters[0].comparator)
    }
    #expect(missing.isEmpty)
  }

  @Test("Operations on subscriptions", arguments: seeds)
  func subscriptionOperations(seed: Int) throws {
    var random = RandomModel(seed: seed)
    let operations = (0..<10).map { _ in random.subscriptionOperation() }
    let body = ModifySubscriptionsRequest(operations: operations).body(context: context)
    let read = try ModifySubscriptionsRequest(parsing: body, context: context)
    #expect(try read.operations.map { try $0.get() } == operations)
    #expect(read.body(context: context) == body)
  }

  @Test("Subscriptions, deletions and errors of an answer", arguments: seeds)
  func subscriptions(seed: Int) throws {
    var random = RandomModel(seed: seed)
    let items: [Result<SubscriptionsResponse.Item, FailedItem>] = (0..<5).flatMap { _ in
      [
        .success(.subscription(random.subscription())),
        .success(
          .subscription(
            random.subscription(),
            replaced: Subscription.KindName.allCases[seed % Subscription.KindName.allCases.count])),
        .success(.deleted(subscriptionID: random.text())),
        .failure(
          FailedItem(.subscription(subscriptionID: random.text()), random.serviceError())),
      ]
    }
    let body = SubscriptionsResponse(subscriptions: items).body(context: context)
    #expect(
      try SubscriptionsResponse(parsing: body, context: context).subscriptions == items)
  }

  @Test("Operations on zones, and their answers", arguments: seeds)
  func zones(seed: Int) throws {
    var random = RandomModel(seed: seed)
    let operations = (0..<10).map { _ in random.zoneOperation() }
    let request = ModifyZonesRequest(operations: operations)
    let read = try ModifyZonesRequest(parsing: request.body(context: context), context: context)
    #expect(try read.operations.map { try $0.get() } == operations)

    let items: [Result<ZonesResponse.Item, FailedItem>] = [
      .success(.zone(random.zoneID(), isAtomic: seed.isMultiple(of: 2))),
      .success(.deleted(random.zoneID())),
      .failure(FailedItem(.zone(random.zoneID()), random.serviceError())),
    ]
    let body = ZonesResponse(zones: items).body(context: context)
    #expect(try ZonesResponse(parsing: body, context: context).zones == items)
  }

  @Test("Lists of names to look up", arguments: seeds)
  func lookups(seed: Int) throws {
    var random = RandomModel(seed: seed)
    let recordIDs = (0..<5).map { _ in random.recordID() }
    let desiredKeys: Set<String>? = random.maybe { _ in [] }
    let records = try LookupRecordsRequest(
      parsing: LookupRecordsRequest(recordIDs: recordIDs, desiredKeys: desiredKeys)
        .body(context: context), context: context)
    #expect(records.recordIDs == recordIDs)
    #expect(records.desiredKeys == desiredKeys)

    let zoneIDs = (0..<5).map { _ in random.zoneID() }
    let zones = LookupZonesRequest(zoneIDs: zoneIDs)
    #expect(
      try LookupZonesRequest(parsing: zones.body(context: context), context: context).zoneIDs
        == zoneIDs)

    let names = (0..<5).map { _ in random.text() }
    let subscriptions = LookupSubscriptionsRequest(subscriptionIDs: names)
    #expect(
      try LookupSubscriptionsRequest(
        parsing: subscriptions.body(context: context), context: context
      ).subscriptionIDs == names)
  }

  @Test("A double that JSON cannot say keeps its value: NaN and the infinities")
  func notNumbers() throws {
    let record = Record(
      recordID: RecordID(recordName: "r"), recordType: "Note",
      fields: [
        "a": .double(.nan), "b": .double(.infinity), "c": .list(of: .double, [.double(.nan)]),
      ])
    let body = RecordsResponse(records: [.success(.record(record))]).body(context: context)
    let read = try RecordsResponse(parsing: body, context: context).records[0].get()
    guard case .record(let read) = read, case .double(let a) = read.fields["a"],
      case .list(.double, let c) = read.fields["c"], case .double(let first) = c.first
    else {
      Issue.record("unexpected \(read)")
      return
    }
    #expect(a.isNaN && first.isNaN)
    #expect(read.fields["b"] == .double(.infinity))
  }

  @Test("An answer holds the desired fields only")
  func desiredKeys() throws {
    let record = Record(
      recordID: RecordID(recordName: "r"), recordType: "Note",
      fields: ["a": .int64(1), "b": .int64(2)])
    var response = RecordsResponse(records: [.success(.record(record))])
    for (keys, expected) in [(nil, ["a", "b"]), ([], []), (["b", "z"], ["b"])]
      as [(Set<String>?, [String])]
    {
      response.detail.desiredKeys = keys
      let body = response.body(context: context)
      let read = try RecordsResponse(parsing: body, context: context).records[0].get()
      guard case .record(let read) = read else {
        Issue.record("unexpected \(read)")
        continue
      }
      #expect(read.fields.keys.sorted() == expected)
    }
  }
}
