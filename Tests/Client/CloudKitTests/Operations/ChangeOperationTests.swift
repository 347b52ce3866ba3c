import CloudKitModel
import Foundation
import Testing
import WebServices

@testable import CloudKit

struct ChangeOperationTests {
  private let notes = ZoneID(zoneName: "Notes")
  private let old = ZoneID(zoneName: "Old")

  private func record(_ name: String) -> RecordChange {
    .saved(Record(recordID: RecordID(recordName: name, zoneID: notes), recordType: "T"))
  }

  private func gone(_ name: String) -> RecordChange {
    .deleted(RecordID(recordName: name, zoneID: notes), recordType: "T")
  }

  /// Answers about zones, one answer after the other.
  private func zoneAnswers(
    _ answers: [Result<RecordChangesResponse, FailedItem>]...
  ) -> ScriptedTransport {
    ScriptedTransport { _, index in
      .ok(
        ZoneChangesResponse(zones: answers[min(index, answers.count - 1)]).body(
          context: serverContext))
    }
  }

  private func page(
    _ zoneID: ZoneID, _ changes: [RecordChange], _ token: String, more: Bool = false,
    data: Data? = nil
  ) -> Result<RecordChangesResponse, FailedItem> {
    .success(
      RecordChangesResponse(
        zoneID: zoneID, changes: changes, syncToken: token, moreComing: more,
        clientChangeTokenData: data))
  }

  private func expired(_ zoneID: ZoneID) -> Result<RecordChangesResponse, FailedItem> {
    .failure(FailedItem(.zone(zoneID), ServiceError(.changeTokenExpired, "too old")))
  }

  private func sentZones(_ transport: ScriptedTransport) throws -> [[RecordChangesRequest]] {
    try transport.requests.map { request in
      #expect(request.operation == "changes/zone")
      return try ZoneChangesRequest(parsing: try #require(request.body), context: serverContext)
        .zones.map { try $0.get() }
    }
  }

  /// Returns the arguments of the operation's blocks, in order.
  @available(*, deprecated)
  private func calls(_ operation: CKFetchRecordZoneChangesOperation) -> [String] {
    let calls = Guarded<[String]>([])
    func text(_ error: (any Error)?) -> String { (error as? CKError)?.code.caseName ?? "-" }
    operation.recordWasChangedBlock = {
      calls.append("changed \($0.recordName) \($1.error == nil)")
    }
    operation.recordChangedBlock = { calls.append("old changed \($0.recordID.recordName)") }
    operation.recordWithIDWasDeletedBlock = { calls.append("deleted \($0.recordName) \($1)") }
    operation.recordZoneChangeTokensUpdatedBlock = {
      calls.append("token \($0.zoneName) \($1?.syncToken ?? "-") \($2?.count ?? 0)")
    }
    operation.recordZoneFetchResultBlock = { zoneID, result in
      let values = result.value
      calls.append(
        "zone \(zoneID.zoneName) \(values?.serverChangeToken.syncToken ?? "-") "
          + "\(values?.clientChangeTokenData?.count ?? 0) \(values?.moreComing ?? false) "
          + text(result.error))
    }
    operation.recordZoneFetchCompletionBlock = {
      calls.append(
        "old zone \($0.zoneName) \($1?.syncToken ?? "-") \($2?.count ?? 0) \($3) " + text($4))
    }
    operation.fetchRecordZoneChangesResultBlock = { calls.append("result " + text($0.error)) }
    operation.fetchRecordZoneChangesCompletionBlock = { calls.append("old result " + text($0)) }
    operation.runToEnd()
    return calls.current
  }

  @available(*, deprecated)
  @Test("Records, then the token that stands for them, then the zone, then the result")
  func order() throws {
    let transport = zoneAnswers(
      [page(notes, [record("a"), gone("b")], "1", more: true, data: Data([1])), expired(old)],
      [page(notes, [record("c")], "2", data: Data([1]))])
    let operation = CKFetchRecordZoneChangesOperation(
      recordZoneIDs: [CKRecordZone.ID(notes), CKRecordZone.ID(old), CKRecordZone.ID(notes)],
      configurationsByRecordZoneID: [
        CKRecordZone.ID(notes): .init(
          previousServerChangeToken: CKServerChangeToken(syncToken: "0"), resultsLimit: 7,
          desiredKeys: ["x"])
      ])
    operation.database = CKContainer.scripted(transport).privateCloudDatabase
    #expect(
      calls(operation) == [
        "changed a true", "old changed a", "deleted b T", "token Notes 1 1",
        "zone Old - 0 false changeTokenExpired",
        "old zone Old - 0 false changeTokenExpired",
        "changed c true", "old changed c",
        "zone Notes 2 1 false -", "old zone Notes 2 1 false -",
        "result -", "old result partialFailure",
      ])
    var first = RecordChangesRequest(zoneID: notes, syncToken: "0")
    first.resultsLimit = 7
    first.desiredKeys = ["x"]
    var second = first
    second.syncToken = "1"
    #expect(try sentZones(transport) == [[first, RecordChangesRequest(zoneID: old)], [second]])
  }

  @available(*, deprecated)
  @Test("One answer only, when not all changes are wanted")
  func onePage() throws {
    let transport = zoneAnswers([page(notes, [record("a")], "1", more: true)])
    let operation = CKFetchRecordZoneChangesOperation(
      recordZoneIDs: [CKRecordZone.ID(notes)],
      optionsByRecordZoneID: [CKRecordZone.ID(notes): .init()])
    operation.fetchAllChanges = false
    operation.database = CKContainer.scripted(transport).privateCloudDatabase
    #expect(
      calls(operation) == [
        "changed a true", "old changed a", "zone Notes 1 0 true -",
        "old zone Notes 1 0 true -", "result -", "old result -",
      ])
    #expect(operation.optionsByRecordZoneID?.count == 1)
    #expect(transport.requests.count == 1)
  }

  @available(*, deprecated)
  @Test("Without zones those with a configuration are fetched; with none, nothing is")
  func implied() throws {
    let transport = zoneAnswers([page(notes, [], "1")])
    let operation = CKFetchRecordZoneChangesOperation(configurationsByRecordZoneID: [
      CKRecordZone.ID(notes): .init()
    ])
    operation.database = CKContainer.scripted(transport).privateCloudDatabase
    #expect(calls(operation).last == "old result -")
    #expect(try sentZones(transport) == [[RecordChangesRequest(zoneID: notes)]])
    let empty = CKFetchRecordZoneChangesOperation()
    #expect(calls(empty) == ["result -", "old result -"])
  }

  @available(*, deprecated)
  @Test("A negative limit is refused before anything is sent")
  func negativeLimits() {
    let transport = zoneAnswers([])
    let database = CKContainer.scripted(transport).privateCloudDatabase
    let zone = CKFetchRecordZoneChangesOperation(
      recordZoneIDs: [CKRecordZone.ID(notes)],
      configurationsByRecordZoneID: [CKRecordZone.ID(notes): .init(resultsLimit: -1)])
    zone.database = database
    #expect(calls(zone) == ["result invalidArguments", "old result invalidArguments"])
    let errors = Guarded<[CKError.Code?]>([])
    let feed = CKFetchDatabaseChangesOperation()
    feed.database = database
    feed.resultsLimit = -1
    feed.fetchDatabaseChangesResultBlock = { errors.append(($0.error as? CKError)?.code) }
    feed.runToEnd()
    let old = CKFetchRecordChangesOperation(
      recordZoneID: CKRecordZone.ID(notes), previousServerChangeToken: nil)
    old.database = database
    old.resultsLimit = -1
    old.fetchRecordChangesCompletionBlock = { errors.append(($2 as? CKError)?.code) }
    old.runToEnd()
    #expect(errors.current == [.invalidArguments, .invalidArguments])
    #expect(transport.requests.isEmpty)
  }

  @available(*, deprecated)
  @Test("Cancelled between answers, the operation says so and asks no more")
  func cancelMidway() {
    let transport = ScriptedTransport { [notes] _, _ in
      let page = RecordChangesResponse(
        zoneID: notes, changes: [], syncToken: "1", moreComing: true)
      return .ok(
        ZoneChangesResponse(zones: [.success(page)]).body(
          context: serverContext))
    }
    let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [CKRecordZone.ID(notes)])
    operation.database = CKContainer.scripted(transport).privateCloudDatabase
    let pages = Guarded(0)
    operation.recordZoneChangeTokensUpdatedBlock = { [unowned operation] _, _, _ in
      let count = pages.withLock { pages in
        pages += 1
        return pages
      }
      if count == 3 { operation.cancel() }
    }
    let results = Guarded<[CKError.Code?]>([])
    operation.recordZoneFetchResultBlock = { results.append(($1.error as? CKError)?.code) }
    operation.fetchRecordZoneChangesResultBlock = { results.append(($0.error as? CKError)?.code) }
    operation.runToEnd()
    #expect(pages.current == 3 && transport.requests.count == 3)
    #expect(results.current == [.operationCancelled])
  }

  // MARK: Databases

  @available(*, deprecated)
  @Test("Zones, then the token that stands for them, page after page, then the result")
  func database() throws {
    for fetchesAll in [true, false] {
      let operation = CKFetchDatabaseChangesOperation(
        previousServerChangeToken: CKServerChangeToken(syncToken: "0"))
      operation.resultsLimit = 5
      operation.fetchAllChanges = fetchesAll
      let calls = Guarded<[String]>([])
      operation.recordZoneWithIDChangedBlock = { calls.append("changed \($0.zoneName)") }
      operation.recordZoneWithIDWasDeletedBlock = { calls.append("deleted \($0.zoneName)") }
      operation.changeTokenUpdatedBlock = { calls.append("token \($0.syncToken)") }
      operation.fetchDatabaseChangesResultBlock = { result in
        calls.append(
          "result \(result.value?.serverChangeToken.syncToken ?? "-") "
            + "\(result.value?.moreComing ?? false)")
      }
      operation.fetchDatabaseChangesCompletionBlock = {
        calls.append("old result \($0?.syncToken ?? "-") \($1) \($2 == nil)")
      }
      let transport = ScriptedTransport { [notes, old] _, index in
        let zones: [Result<ZoneChange, FailedItem>] =
          index == 0 ? [.success(.changed(notes)), .success(.deleted(old))] : []
        return .ok(
          DatabaseChangesResponse<CurrentDatabaseChanges>(
            zones: zones, syncToken: "\(index + 1)", moreComing: index == 0
          )
          .body(context: serverContext))
      }
      operation.database = CKContainer.scripted(transport).privateCloudDatabase
      operation.runToEnd()
      let first = ["changed Notes", "deleted Old", "token 1"]
      #expect(
        calls.current
          == first
          + (fetchesAll
            ? ["token 2", "result 2 false", "old result 2 false true"]
            : ["result 1 true", "old result 1 true true"]))
      let sent = try transport.requests.map {
        try DatabaseChangesRequest<CurrentDatabaseChanges>(
          parsing: try #require($0.body), context: serverContext)
      }
      #expect(
        sent
          == (fetchesAll ? ["0", "1"] : ["0"]).map {
            DatabaseChangesRequest(syncToken: $0, resultsLimit: 5)
          })
    }
  }

  @available(*, deprecated)
  @Test("An expired token is reported through both styles of blocks")
  func databaseExpired() {
    let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
    operation.database =
      CKContainer.scripted { _, _ in .error(ServiceError(.changeTokenExpired, "too old")) }
      .privateCloudDatabase
    let errors = Guarded<[CKError.Code?]>([])
    operation.fetchDatabaseChangesResultBlock = { errors.append(($0.error as? CKError)?.code) }
    operation.fetchDatabaseChangesCompletionBlock = { token, moreComing, error in
      #expect(token == nil && !moreComing)
      errors.append((error as? CKError)?.code)
    }
    operation.runToEnd()
    #expect(errors.current == [.changeTokenExpired, .changeTokenExpired])
  }

  // MARK: Methods

  @Test("The methods fetch one answer, and throw a zone's own error")
  func methods() async throws {
    let database = CKContainer.scripted(
      zoneAnswers([page(notes, [record("a"), gone("b")], "1", more: true)])
    ).privateCloudDatabase
    let changes = try await database.recordZoneChanges(
      inZoneWith: CKRecordZone.ID(notes), since: nil, desiredKeys: [], resultsLimit: 2)
    #expect(changes.modificationResultsByID.keys.map(\.recordName) == ["a"])
    let recordID = CKRecord.ID(RecordID(recordName: "a", zoneID: notes))
    #expect(
      try changes.modificationResultsByID[recordID]?.get().record.recordType == "T")
    #expect(changes.deletions.map(\.recordID.recordName) == ["b"])
    #expect(changes.deletions.map(\.recordType) == ["T"])
    #expect(changes.changeToken.syncToken == "1" && changes.moreComing)

    let failing = CKContainer.scripted(zoneAnswers([expired(notes)])).privateCloudDatabase
    let error = await #expect(throws: CKError.self) {
      try await failing.recordZoneChanges(inZoneWith: CKRecordZone.ID(notes), since: nil)
    }
    #expect(error?.code == .changeTokenExpired)
  }

  // MARK: Archives

  @Test("A zone's configuration is copied, archived and back")
  func configuration() throws {
    let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
      previousServerChangeToken: CKServerChangeToken(syncToken: "T"), resultsLimit: 5,
      desiredKeys: ["a", "b"])
    for other in [
      try archivedAndBack(configuration),
      try #require(configuration.copy() as? CKFetchRecordZoneChangesConfiguration),
    ] {
      #expect(other !== configuration)
      #expect(other.previousServerChangeToken == configuration.previousServerChangeToken)
      #expect(other.resultsLimit == 5 && other.desiredKeys == ["a", "b"])
    }
    let plain = try archivedAndBack(CKFetchRecordZoneChangesConfiguration())
    #expect(plain.previousServerChangeToken == nil && plain.desiredKeys == nil)
    #expect(plain.resultsLimit == 0)
  }

  @Test("What a device leaves with its changes goes to the server")
  func clientChangeTokens() throws {
    let transport = ScriptedTransport { _, _ in .error(ServiceError(.badRequest, "no")) }
    let operation = CKModifyRecordsOperation(recordsToSave: [CKRecord(recordType: "T")])
    operation.clientChangeTokenData = Data([1, 2])
    operation.database = CKContainer.scripted(transport).privateCloudDatabase
    operation.runToEnd()
    let sent = try ModifyRecordsRequest(
      parsing: try #require(transport.requests.first?.body), context: serverContext)
    #expect(sent.clientChangeTokenData == Data([1, 2]))
  }
}
