import CloudKitModel
import Foundation
import Testing
import WebServices

@testable import CloudKit

struct OperationTests {
  /// Answers each lookup with the records that were asked for.
  static let found: ScriptedTransport.Script = { request, _ in
    guard
      let lookup = try? LookupRecordsRequest(
        parsing: request.body ?? Data(), context: serverContext)
    else { return .error(ServiceError(.badRequest, "not a lookup")) }
    let records = lookup.recordIDs.map { recordID in
      Result<RecordsResponse.Item, FailedItem>.success(
        .record(Record(recordID: recordID, recordType: "T", recordChangeTag: "a")))
    }
    return .ok(RecordsResponse(records: records).body(context: serverContext))
  }

  private func fetch(_ name: String, in container: CKContainer) -> CKFetchRecordsOperation {
    let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: name)])
    operation.database = container.privateCloudDatabase
    return operation
  }

  @available(*, deprecated)
  @Test("Blocks are called in order: items, result, completionBlock; the operation is over last")
  func order() {
    let operation = fetch("a", in: .scripted(Self.found))
    let calls = Guarded<[String]>([])
    operation.perRecordProgressBlock = { _, progress in calls.append("progress \(progress)") }
    operation.perRecordResultBlock = { _, _ in calls.append("item") }
    operation.perRecordCompletionBlock = { _, _, _ in calls.append("old item") }
    operation.fetchRecordsResultBlock = { _ in
      calls.append(operation.isExecuting && !operation.isFinished ? "result" : "too late")
    }
    operation.fetchRecordsCompletionBlock = { _, _ in calls.append("old result") }
    let completed = DispatchSemaphore(value: 0)
    operation.completionBlock = {
      calls.append("completion")
      completed.signal()
    }
    operation.runToEnd()
    completed.wait()
    #expect(
      calls.current
        == ["progress 1.0", "item", "old item", "result", "old result", "completion"])
    #expect(operation.isFinished && !operation.isExecuting)
  }

  @Test("Operations on a queue heed their dependencies")
  func dependencies() {
    let container = CKContainer.scripted(Self.found)
    let queue = OperationQueue()
    let order = Guarded<[String]>([])
    let operations = (0..<20).map { fetch("\($0)", in: container) }
    for (index, operation) in operations.enumerated() {
      operation.fetchRecordsResultBlock = { _ in order.append("\(index)") }
      // Each waits for the one that is queued after it.
      if index + 1 < operations.count { operation.addDependency(operations[index + 1]) }
    }
    queue.addOperations(operations, waitUntilFinished: true)
    #expect(order.current == (0..<20).reversed().map(String.init))
  }

  @Test("A cancelled operation can end, and go, before the operation that it depends on")
  func cancelledDependent() {
    let answer = DispatchSemaphore(value: 0)
    let first = fetch(
      "first",
      in: .scripted { request, index in
        answer.wait()
        return Self.found(request, index)
      })
    let queue = OperationQueue()
    queue.addOperation(first)
    let others = CKContainer.scripted(Self.found)
    for _ in 0..<100 {
      let dependent = fetch("dependent", in: others)
      dependent.addDependency(first)
      queue.addOperation(dependent)
      dependent.cancel()
      dependent.waitUntilFinished()
      #expect(dependent.dependencies.isEmpty)
    }
    answer.signal()
    queue.waitUntilAllOperationsAreFinished()
    #expect(first.isFinished)
  }

  @Test("An operation runs once")
  func once() {
    let transport = ScriptedTransport(Self.found)
    let operation = fetch("a", in: .scripted(transport))
    operation.runToEnd()
    operation.start()
    #expect(transport.requests.count == 1)
    #expect(operation.isFinished)
  }

  @available(*, deprecated)
  @Test("Cancelling midway ends the request and reports operationCancelled through the blocks")
  func cancelMidway() {
    let sent = DispatchSemaphore(value: 0)
    let transport = ScriptedTransport { _, _ in
      sent.signal()
      return .silence
    }
    let operation = fetch("a", in: .scripted(transport))
    let errors = Guarded<[CKError?]>([])
    operation.fetchRecordsResultBlock = { errors.append($0.error as? CKError) }
    operation.fetchRecordsCompletionBlock = { errors.append($1 as? CKError) }
    operation.start()
    sent.wait()
    operation.cancel()
    operation.waitUntilFinished()
    #expect(errors.current.map { $0?.code } == [.operationCancelled, .operationCancelled])
    #expect(transport.cancellations == 1)
  }

  @Test("An operation that is cancelled before it starts sends nothing and reports it")
  func cancelBefore() {
    let transport = ScriptedTransport(Self.found)
    let operation = fetch("a", in: .scripted(transport))
    let errors = Guarded<[CKError?]>([])
    operation.fetchRecordsResultBlock = { errors.append($0.error as? CKError) }
    operation.cancel()
    operation.runToEnd()
    #expect(errors.current.map { $0?.code } == [.operationCancelled])
    #expect(transport.requests.isEmpty)
  }

  @Test("Cancelling a queue ends all of its operations")
  func cancelQueue() {
    let transport = ScriptedTransport { _, _ in .silence }
    let container = CKContainer.scripted(transport)
    let queue = OperationQueue()
    let operations = (0..<10).map { fetch("\($0)", in: container) }
    queue.addOperations(operations, waitUntilFinished: false)
    queue.cancelAllOperations()
    queue.waitUntilAllOperationsAreFinished()
    #expect(operations.filter { !$0.isFinished }.isEmpty)
  }

  @Test("Operations end while more tasks are blocked than there are threads for tasks")
  func blockedTasks() async {
    let count = 4 * ProcessInfo.processInfo.activeProcessorCount
    let container = CKContainer.scripted(Self.found)
    // The transport over sockets as well: nobody listens at this port.
    let unreachable = CKContainer(
      identifier: "iCloud.test",
      configuration: PetrelConfiguration(
        serverURL: URL(string: "http://127.0.0.1:1")!, deviceID: "d"))
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<count {
        group.addTask {
          Self.block(on: container.privateCloudDatabase, viaQueue: index % 2 == 0)
          Self.block(on: unreachable.privateCloudDatabase, viaQueue: index % 2 == 1)
        }
      }
    }
  }

  private static func block(on database: CKDatabase, viaQueue: Bool) {
    let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "a")])
    let over = DispatchSemaphore(value: 0)
    operation.fetchRecordsResultBlock = { _ in over.signal() }
    if viaQueue {
      let queue = OperationQueue()
      operation.database = database
      queue.addOperation(operation)
      queue.waitUntilAllOperationsAreFinished()
    } else {
      database.add(operation)
    }
    over.wait()
  }

  @Test("Handlers that are written on the main actor may be called on background queues")
  @MainActor
  func mainActorHandlers() async {
    let database = CKContainer.scripted(Self.found).privateCloudDatabase
    await withCheckedContinuation { continuation in
      database.fetch(withRecordID: CKRecord.ID(recordName: "a")) { _, _ in continuation.resume() }
    }
    await withCheckedContinuation { continuation in
      let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "a")])
      operation.fetchRecordsResultBlock = { _ in continuation.resume() }
      database.add(operation)
    }
  }

  /// A protocol that a program may declare so that a test double can replace a database.
  protocol RecordSaving {
    func save(_ record: CKRecord, completionHandler: @escaping (CKRecord?, (any Error)?) -> Void)
    func records(
      for ids: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]?
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>]
  }

  @Test("A database conforms to protocols with its methods' signatures")
  func conformance() {
    #expect(CKContainer.scripted(Self.found).publicCloudDatabase as Any is any RecordSaving)
  }

  @Test(
    "Patient operations come back to a busy server when it says; others report what it said",
    arguments: [
      (ServerErrorCode.throttled, CKError.Code.requestRateLimited),
      (.tryAgainLater, .serviceUnavailable), (.zoneBusy, .zoneBusy),
    ],
    [
      QualityOfService.userInteractive, .userInitiated, .default, .utility, .background,
    ])
  func busy(codes: (ServerErrorCode, CKError.Code), qualityOfService: QualityOfService) {
    let transport = ScriptedTransport { request, index in
      index < 2
        ? .error(ServiceError(codes.0, "wait", retryAfter: 0.02)) : Self.found(request, index)
    }
    let operation = fetch("a", in: .scripted(transport))
    operation.qualityOfService = qualityOfService
    let errors = Guarded<[CKError?]>([])
    operation.fetchRecordsResultBlock = { errors.append($0.error as? CKError) }
    operation.runToEnd()
    if qualityOfService == .utility || qualityOfService == .background {
      #expect(errors.current == [nil])
      #expect(transport.requests.count == 3)
    } else {
      #expect(errors.current.map { $0?.code } == [codes.1])
      #expect(errors.current.first??.retryAfterSeconds == 0.02)
      #expect(transport.requests.count == 1)
    }
  }

  @Test("A server that asks for more patience than the resource timeout leaves is not waited for")
  func tooLong() {
    let transport = ScriptedTransport { _, _ in
      .error(ServiceError(.tryAgainLater, "wait", retryAfter: 3600))
    }
    let operation = fetch("a", in: .scripted(transport))
    operation.qualityOfService = .utility
    operation.configuration.timeoutIntervalForResource = 60
    let errors = Guarded<[CKError?]>([])
    operation.fetchRecordsResultBlock = { errors.append($0.error as? CKError) }
    operation.runToEnd()
    #expect(errors.current.map { $0?.code } == [.serviceUnavailable])
    #expect(errors.current.first??.retryAfterSeconds == 3600)
  }

  @Test("A busy server is waited for by utility operations, as long as it asks")
  func retries() {
    let transport = ScriptedTransport { request, index in
      index < 2
        ? .error(ServiceError(.throttled, "wait", retryAfter: 0.01)) : Self.found(request, index)
    }
    let operation = fetch("a", in: .scripted(transport))
    operation.qualityOfService = .utility
    let results = Guarded<[Bool]>([])
    operation.fetchRecordsResultBlock = { results.append($0.error == nil) }
    operation.runToEnd()
    #expect(results.current == [true])
    #expect(transport.requests.count == 3)
  }

  @Test("Others report it with the time to wait")
  func noRetries() {
    let transport = ScriptedTransport { _, _ in
      .error(ServiceError(.tryAgainLater, "wait", retryAfter: 3))
    }
    let operation = fetch("a", in: .scripted(transport))
    let errors = Guarded<[CKError?]>([])
    operation.fetchRecordsResultBlock = { errors.append($0.error as? CKError) }
    operation.runToEnd()
    #expect(errors.current.first??.code == .serviceUnavailable)
    #expect(errors.current.first??.retryAfterSeconds == 3)
    #expect(transport.requests.count == 1)
  }

  @Test("An operation that waits to try again can be cancelled")
  func cancelWhileWaiting() {
    let sent = DispatchSemaphore(value: 0)
    let transport = ScriptedTransport { _, _ in
      sent.signal()
      return .error(ServiceError(.throttled, "wait", retryAfter: 3600))
    }
    let operation = fetch("a", in: .scripted(transport))
    operation.qualityOfService = .background
    let errors = Guarded<[CKError?]>([])
    operation.fetchRecordsResultBlock = { errors.append($0.error as? CKError) }
    operation.start()
    sent.wait()
    operation.cancel()
    operation.waitUntilFinished()
    #expect(errors.current.map { $0?.code } == [.operationCancelled])
  }

  @Test("The resource timeout ends an operation whose request has no answer")
  func resourceTimeout() {
    let transport = ScriptedTransport { _, _ in .silence }
    let operation = fetch("a", in: .scripted(transport))
    operation.configuration.timeoutIntervalForResource = 0.05
    let errors = Guarded<[CKError?]>([])
    operation.fetchRecordsResultBlock = { errors.append($0.error as? CKError) }
    operation.runToEnd()
    #expect(errors.current.map { $0?.code } == [.networkFailure])
    #expect(transport.cancellations == 1)
  }

  @Test("An answer that is no message of the protocol is an internal error")
  func unreadable() {
    let operation = fetch("a", in: .scripted { _, _ in .ok(Data("<html>".utf8)) })
    let errors = Guarded<[CKError?]>([])
    operation.fetchRecordsResultBlock = { errors.append($0.error as? CKError) }
    operation.runToEnd()
    #expect(errors.current.map { $0?.code } == [.internalError])
  }

  @Test("An answer for too few items fails the operation, and says so")
  func miscounted() {
    let body = RecordsResponse(records: []).body(context: serverContext)
    let operation = fetch("a", in: .scripted { _, _ in .ok(body) })
    let errors = Guarded<[CKError?]>([])
    operation.fetchRecordsResultBlock = { errors.append($0.error as? CKError) }
    operation.runToEnd()
    #expect(
      errors.current.first??.localizedDescription
        == "the server's answer has 0 items, but the request has 1")
  }

  @Test("The base class has no work of its own")
  func abstract() {
    let container = CKContainer.scripted(Self.found)
    let operation = CKOperation()
    container.add(operation)
    operation.waitUntilFinished()
    #expect(operation.isFinished)
  }

  @Test("Each request names the container, the database, the user and the device")
  func credentials() {
    let transport = ScriptedTransport(Self.found)
    let container = CKContainer.scripted(transport)
    for database in [
      container.publicCloudDatabase, container.privateCloudDatabase, container.sharedCloudDatabase,
    ] {
      let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "a")])
      database.add(operation)
      operation.waitUntilFinished()
    }
    let inContainer = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "a")])
    container.add(inContainer)
    inContainer.waitUntilFinished()
    #expect(transport.requests.map(\.scope) == [.public, .private, .shared, .private])
    for request in transport.requests {
      #expect(request.query("ckAPIToken") == "api")
      #expect(request.query("ckWebAuthToken") == "a+b/c=")
      #expect(request.query("clientId") == "device")
      #expect(request.method == .post)
    }
  }

  @Test("The next web auth token that an answer brings is used from then on")
  func rotation() {
    let transport = ScriptedTransport { request, index in
      guard case .answer(var response) = Self.found(request, index) else { return .silence }
      if index == 0 { response.headers["x-apple-cloudkit-web-auth-token"] = "next" }
      return .answer(response)
    }
    let container = CKContainer.scripted(transport)
    for _ in 0..<2 { fetch("a", in: container).runToEnd() }
    #expect(transport.requests.map { $0.query("ckWebAuthToken") } == ["a+b/c=", "next"])
  }
}

extension CKDatabase: OperationTests.RecordSaving {}
