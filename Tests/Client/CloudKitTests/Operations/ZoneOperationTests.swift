import CloudKitModel
import Foundation
import Testing
import WebServices

@testable import CloudKit

struct ZoneOperationTests {
  private let notes = ZoneID(zoneName: "Notes")

  private func answering(_ zones: [Result<ZonesResponse.Item, FailedItem>]) -> ScriptedTransport {
    ScriptedTransport { _, _ in .ok(ZonesResponse(zones: zones).body(context: serverContext)) }
  }

  @Test("A saved zone can do everything, a deleted one is named")
  func modify() async throws {
    let transport = answering([
      .success(.zone(notes, isAtomic: true)), .success(.deleted(ZoneID(zoneName: "Old"))),
    ])
    let old = CKRecordZone.ID(zoneName: "Old")
    let (saves, deletions) = try await CKContainer.scripted(transport).privateCloudDatabase
      .modifyRecordZones(saving: [CKRecordZone(zoneName: "Notes")], deleting: [old])
    #expect(try saves[CKRecordZone.ID(zoneName: "Notes")]?.get().capabilities == .all)
    #expect(deletions[old]?.error == nil && deletions.count == 1)
    let sent = try ModifyZonesRequest(
      parsing: try #require(transport.requests.first?.body), context: serverContext)
    #expect(
      try sent.operations.map { try $0.get() } == [
        .create(notes), .delete(ZoneID(zoneName: "Old")),
      ])
  }

  @available(*, deprecated)
  @Test("Errors of zones go to their blocks, and together to the old completion block")
  func itemErrors() {
    let transport = answering([
      .failure(FailedItem(.zone(notes), ServiceError(.badRequest, "no custom zones here")))
    ])
    let operation = CKModifyRecordZonesOperation(
      recordZonesToSave: [CKRecordZone(zoneName: "Notes")])
    let errors = Guarded<[CKError?]>([])
    operation.perRecordZoneSaveBlock = { errors.append($1.error as? CKError) }
    operation.modifyRecordZonesResultBlock = { errors.append($0.error as? CKError) }
    operation.modifyRecordZonesCompletionBlock = { errors.append($2 as? CKError) }
    CKContainer.scripted(transport).publicCloudDatabase.add(operation)
    operation.waitUntilFinished()
    #expect(errors.current.map { $0?.code } == [.invalidArguments, nil, .partialFailure])
  }

  @Test("All zones are listed with a GET, the default zone among them")
  func all() async throws {
    let transport = answering([
      .success(.zone(.default, isAtomic: false)), .success(.zone(notes, isAtomic: true)),
    ])
    let zones = try await CKContainer.scripted(transport).privateCloudDatabase.allRecordZones()
    #expect(zones.map(\.zoneID) == [.default, CKRecordZone.ID(zoneName: "Notes")])
    #expect(zones.map(\.capabilities) == [[], .all])
    #expect(transport.requests.map(\.method) == [.get])
    #expect(transport.requests.map(\.operation) == ["zones/list"])
  }

  @Test("A zone that does not exist is not found")
  func missing() async throws {
    let transport = answering([
      .failure(FailedItem(.zone(notes), ServiceError(.zoneNotFound, "no such zone")))
    ])
    let error = try await #require(throws: CKError.self) {
      try await CKContainer.scripted(transport).privateCloudDatabase
        .recordZone(for: CKRecordZone.ID(zoneName: "Notes"))
    }
    #expect(error.code == .zoneNotFound)
  }

  @Test("Deleting a zone again after a lost answer is no error")
  func repeatedDeletion() async throws {
    let gone = FailedItem(.zone(notes), ServiceError(.zoneNotFound, "no such zone"))
    let transport = ScriptedTransport { _, index in
      index == 0
        ? .failure(TransportFailure(.answerLost, "lost"))
        : .ok(ZonesResponse(zones: [.failure(gone)]).body(context: serverContext))
    }
    let configuration = CKOperation.Configuration()
    configuration.qualityOfService = .utility
    let zoneID = CKRecordZone.ID(zoneName: "Notes")
    let deleted = try await CKContainer.scripted(transport).privateCloudDatabase
      .configuredWith(configuration: configuration) {
        try await $0.deleteRecordZone(withID: zoneID)
      }
    #expect(deleted == zoneID)
  }
}
