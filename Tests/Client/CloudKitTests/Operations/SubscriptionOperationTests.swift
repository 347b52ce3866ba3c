import CloudKitModel
import Foundation
import Testing
import WebServices

@testable import CloudKit

struct SubscriptionOperationTests {
  /// Answers `subscriptions/modify` as a server would that knows no subscription `missing`.
  static let modifying: ScriptedTransport.Script = { request, _ in
    guard
      let parsed = try? ModifySubscriptionsRequest(
        parsing: request.body ?? Data(), context: serverContext)
    else { return .error(ServiceError(.badRequest, "not a modification")) }
    let items = parsed.operations.map { operation in
      operation.flatMap { operation -> Result<SubscriptionsResponse.Item, FailedItem> in
        switch operation {
        case .save(let subscription):
          return .success(.subscription(subscription))
        case .delete("missing"):
          return .failure(
            FailedItem(
              .subscription(subscriptionID: "missing"), ServiceError(.notFound, "not there")))
        case .delete(let subscriptionID):
          return .success(.deleted(subscriptionID: subscriptionID))
        }
      }
    }
    return .ok(SubscriptionsResponse(subscriptions: items).body(context: serverContext))
  }

  private func feed(_ subscriptionID: String) -> CKQuerySubscription {
    let subscription = CKQuerySubscription(
      recordType: "FeedItem", predicate: NSPredicate(format: "tags CONTAINS 'Swift'"),
      subscriptionID: subscriptionID, options: .firesOnRecordCreation)
    subscription.zoneID = CKRecordZone.ID(zoneName: "Feed")
    let info = CKSubscription.NotificationInfo()
    info.shouldSendContentAvailable = true
    subscription.notificationInfo = info
    return subscription
  }

  @Test("A saved subscription comes back as it was sent")
  func save() async throws {
    let transport = ScriptedTransport(Self.modifying)
    let saved = try await CKContainer.scripted(transport).privateCloudDatabase.save(feed("f"))
    #expect(try saved.model() == feed("f").model())
    #expect(saved is CKQuerySubscription)
    let sent = try ModifySubscriptionsRequest(
      parsing: try #require(transport.requests.first?.body), context: serverContext)
    #expect(try sent.operations.map { try $0.get() } == [.save(feed("f").model())])
  }

  @Test("Result blocks: errors of items only in their blocks, the result is success")
  func resultBlocks() {
    let operation = CKModifySubscriptionsOperation(
      subscriptionsToSave: [feed("a")], subscriptionIDsToDelete: ["b", "missing"])
    let calls = Guarded<[String]>([])
    operation.perSubscriptionSaveBlock = { calls.append("saved \($0) \($1.error == nil)") }
    operation.perSubscriptionDeleteBlock = {
      calls.append("deleted \($0) \(($1.error as? CKError)?.code == .unknownItem)")
    }
    operation.modifySubscriptionsResultBlock = { calls.append("result \($0.error == nil)") }
    CKContainer.scripted(Self.modifying).privateCloudDatabase.add(operation)
    operation.waitUntilFinished()
    #expect(
      calls.current
        == ["saved a true", "deleted b false", "deleted missing true", "result true"])
  }

  @available(*, deprecated)
  @Test("Completion block: errors of items together, by subscription ID")
  func completionBlock() {
    let operation = CKModifySubscriptionsOperation(
      subscriptionsToSave: [feed("a")], subscriptionIDsToDelete: ["b", "missing"])
    let outcome = Guarded<([String], [String], CKError?)>(([], [], nil))
    operation.modifySubscriptionsCompletionBlock = { saved, deleted, error in
      outcome.withLock {
        $0 = (saved?.map(\.subscriptionID) ?? [], deleted ?? [], error as? CKError)
      }
    }
    CKContainer.scripted(Self.modifying).privateCloudDatabase.add(operation)
    operation.waitUntilFinished()
    let (saved, deleted, error) = outcome.current
    #expect(saved == ["a"])
    #expect(deleted == ["b"])
    #expect(error?.code == .partialFailure)
    #expect((error?.partialErrorsByItemID?["missing"] as? CKError)?.code == .unknownItem)
    #expect(error?.partialErrorsByItemID?.count == 1)
  }

  @Test("A subscription whose predicate cannot be sent fails by itself")
  func badPredicate() async throws {
    let transport = ScriptedTransport(Self.modifying)
    let bad = CKQuerySubscription(
      recordType: "T", predicate: NSPredicate { _, _ in true }, subscriptionID: "bad",
      options: .firesOnRecordUpdate)
    let (saves, _) = try await CKContainer.scripted(transport).privateCloudDatabase
      .modifySubscriptions(saving: [bad, feed("good")], deleting: [])
    #expect((saves["bad"]?.error as? CKError)?.code == .invalidArguments)
    #expect(saves["good"]?.error == nil && saves.count == 2)
  }

  @Test("A list of all subscriptions or zones fails when one of them cannot be read")
  func incompleteList() async throws {
    let failure = ServiceError(.badRequest, "it cannot be read")
    let transport = ScriptedTransport { request, _ in
      request.operation == "zones/list"
        ? .ok(
          ZonesResponse(zones: [
            .success(.zone(.default, isAtomic: false)),
            .failure(FailedItem(.zone(ZoneID(zoneName: "Notes")), failure)),
          ]).body(context: serverContext))
        : .ok(
          SubscriptionsResponse(subscriptions: [
            .failure(FailedItem(.subscription(subscriptionID: "b"), failure))
          ]).body(context: serverContext))
    }
    let database = CKContainer.scripted(transport).privateCloudDatabase
    await #expect(throws: CKError.self) { try await database.allSubscriptions() }
    await #expect(throws: CKError.self) { try await database.allRecordZones() }
  }

  @Test("All subscriptions are listed with a GET; some by their IDs, with their own errors")
  func fetch() async throws {
    let model = try feed("a").model()
    let transport = ScriptedTransport { request, _ in
      let missing = FailedItem(
        .subscription(subscriptionID: "b"), ServiceError(.notFound, "not there"))
      let items: [Result<SubscriptionsResponse.Item, FailedItem>] =
        request.method == .get
        ? [.success(.subscription(model))] : [.success(.subscription(model)), .failure(missing)]
      return .ok(SubscriptionsResponse(subscriptions: items).body(context: serverContext))
    }
    let database = CKContainer.scripted(transport).privateCloudDatabase
    #expect(try await database.allSubscriptions().map(\.subscriptionID) == ["a"])
    let results = try await database.subscriptions(for: ["a", "b"])
    #expect(try results["a"]?.get().subscriptionID == "a")
    #expect((results["b"]?.error as? CKError)?.code == .unknownItem)
    #expect(
      transport.requests.map(\.operation) == ["subscriptions/list", "subscriptions/lookup"])
  }

  @available(*, deprecated)
  @Test("A save whose answer was lost is repeated; so is a deletion, whose work may be done")
  func lostAnswers() {
    let transport = ScriptedTransport { request, index in
      index == 0 ? .failure(TransportFailure(.timedOut, "late")) : Self.modifying(request, index)
    }
    let operation = CKModifySubscriptionsOperation(
      subscriptionsToSave: [feed("a")], subscriptionIDsToDelete: ["missing"])
    operation.qualityOfService = .utility
    let outcome = Guarded<([String]?, (any Error)?)>((nil, nil))
    operation.modifySubscriptionsCompletionBlock = { _, deleted, error in
      outcome.withLock { $0 = (deleted, error) }
    }
    CKContainer.scripted(transport).privateCloudDatabase.add(operation)
    operation.waitUntilFinished()
    #expect(outcome.current.0 == ["missing"])
    #expect(outcome.current.1 == nil)
  }

  @Test("Methods with a completion handler give the item's own error")
  func completionHandlers() async {
    let database = CKContainer.scripted(Self.modifying).privateCloudDatabase
    let deleted = await withCheckedContinuation { continuation in
      database.delete(withSubscriptionID: "missing") { subscriptionID, error in
        continuation.resume(returning: (subscriptionID, (error as? CKError)?.code))
      }
    }
    #expect(deleted == (nil, .unknownItem))
    let saved = await withCheckedContinuation { continuation in
      database.save(feed("a")) { subscription, error in
        continuation.resume(returning: (subscription?.subscriptionID, error == nil))
      }
    }
    #expect(saved == ("a", true))
  }
}
