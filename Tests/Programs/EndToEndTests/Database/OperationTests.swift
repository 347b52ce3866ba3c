import CloudKit
import ProxySimulation
import Testing
import Waiting

struct OperationTests {
  private let recordID = CKRecord.ID(recordName: "A")

  /// Runs `body` with the database of a device whose requests go through a proxy.
  private func run(
    _ body: (Cloud, HoldingProxy, CKContainer) async throws -> Void
  ) async throws {
    try await Cloud.run { cloud in
      let proxy = try HoldingProxy(to: await cloud.serverPort)
      defer { proxy.close() }
      let container = CKContainer(
        identifier: Cloud.container,
        configuration: PetrelConfiguration(
          serverURL: try #require(URL(string: "http://127.0.0.1:\(proxy.port)")),
          webAuthToken: try await cloud.token(of: "anna"), deviceID: "anna-phone"))
      try await body(cloud, proxy, container)
    }
  }

  // MARK: Tasks

  @Test(
    "Operations end while more tasks wait for them than there are threads for tasks",
    .enabled(if: Program.isBuilt("OperationProbe"), "the program OperationProbe is not built"))
  func blockedTasks() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      try await phone.add("Item", "A")
      let program = try Program(
        "OperationProbe", ["block-tasks"],
        environment: [
          "PETREL_SERVER": await cloud.serverURL.absoluteString,
          "PETREL_CONTAINER": Cloud.container, "PETREL_TOKEN": try await cloud.token(of: "anna"),
          "PETREL_DEVICE": "anna-phone",
        ], in: cloud.directory)
      do {
        #expect(try await program.end() == 0)
      } catch {
        try await program.kill()
        throw error
      }
      #expect(program.output == "unblocked\n")
    }
  }

  // MARK: Warnings

  @Test(
    "A program is warned on standard error that a subscription replaced one of another type",
    .enabled(if: Program.isBuilt("OperationProbe"), "the program OperationProbe is not built"))
  func replacedSubscription() async throws {
    try await Cloud.run { cloud in
      let program = try Program(
        "OperationProbe", ["subscribe", "news"],
        environment: [
          "PETREL_SERVER": await cloud.serverURL.absoluteString,
          "PETREL_CONTAINER": Cloud.container, "PETREL_TOKEN": try await cloud.token(of: "anna"),
          "PETREL_DEVICE": "anna-phone",
        ], in: cloud.directory)
      #expect(try await program.end() == 0)
      #expect(
        program.output == """
          petrel: saving the database subscription 'news' replaced the query subscription with the \
          same ID; give each subscription an ID of its own
          subscribed

          """)
    }
  }

  @Test(
    "Standard error names what a query misspelt, and the nearest name",
    .enabled(if: Program.isBuilt("OperationProbe"), "the program OperationProbe is not built"))
  func misspeltNames() async throws {
    try await Cloud.run { cloud in
      let note = CKRecord(recordType: "Note")
      note["title"] = "Milk"
      _ = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase.save(note)
      func search(_ type: String, _ predicate: String) async throws -> String {
        let program = try Program(
          "OperationProbe", ["search", type, predicate],
          environment: [
            "PETREL_SERVER": await cloud.serverURL.absoluteString,
            "PETREL_CONTAINER": Cloud.container, "PETREL_TOKEN": try await cloud.token(of: "anna"),
            "PETREL_DEVICE": "anna-phone",
          ], in: cloud.directory)
        #expect(try await program.end() == 0)
        return program.output
      }
      #expect(try await search("Note", "title == 'Milk'") == "found 1\n")
      #expect(try await search("Note", "title == 'Tea'") == "found 0\n")
      #expect(
        try await search("Note", "titel == 'Milk'") == """
          petrel: a query found no records: record type 'Note' does not have the field 'titel'; \
          did you mean 'title'?
          found 0

          """)
      #expect(
        try await search("Nte", "title == 'Milk'") == """
          petrel: a query failed: Did not find record type: Nte. It is not in the development schema \
          of \(Cloud.container); the first save of such a record creates it; did you mean 'Note'?
          failed unknownItem

          """)
    }
  }

  // MARK: Queues

  @Test("Operations wait for others, for blocks, and for what a block adds")
  func dependencies() async throws {
    try await Cloud.run { cloud in
      let database = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let order = Log()
      let save = CKModifyRecordsOperation(recordsToSave: [CKRecord("Item", "A", ["n": 1])])
      save.modifyRecordsResultBlock = { order.note("save \($0.error == nil)") }
      let between = BlockOperation { order.note("block") }
      between.addDependency(save)
      let fetch = CKFetchRecordsOperation(recordIDs: [recordID])
      fetch.perRecordResultBlock = { order.note("fetch \((try? $1.get()["n"] as? Int) ?? 0)") }
      fetch.addDependency(between)
      let last = CKModifyRecordsOperation(recordIDsToDelete: [recordID])
      last.modifyRecordsResultBlock = { order.note("delete \($0.error == nil)") }
      last.addDependency(fetch)
      for operation in [save, fetch, last] { operation.database = database }
      let queue = OperationQueue()
      for operation in [last, fetch, between, save] { queue.addOperation(operation) }
      await queue.end()
      #expect(order.notes == ["save true", "block", "fetch 1", "delete true"])
    }
  }

  @Test("A queue that does one at a time keeps the order")
  func serialQueue() async throws {
    try await Cloud.run { cloud in
      let database = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let order = Log()
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      for index in 0..<8 {
        let operation = CKFetchRecordsOperation(recordIDs: [recordID])
        operation.database = database
        operation.fetchRecordsResultBlock = { _ in order.note("\(index)") }
        queue.addOperation(operation)
      }
      await queue.end()
      #expect(order.notes == (0..<8).map(String.init))
    }
  }

  @Test("Cancelling a queue ends what runs, what waits and what depends on it")
  func cancelQueue() async throws {
    try await run { _, proxy, container in
      proxy.hold(.answers)
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 2
      let order = Log()
      var previous: Operation?
      for index in 0..<6 {
        let operation = CKFetchRecordsOperation(recordIDs: [recordID])
        operation.database = container.privateCloudDatabase
        operation.fetchRecordsResultBlock = {
          order.note("\(index) \($0.error?.code.rawValue ?? 0)")
        }
        if index % 2 == 1, let previous { operation.addDependency(previous) }
        previous = operation
        queue.addOperation(operation)
      }
      try await eventually("an answer is held") { proxy.isHolding }
      queue.cancelAllOperations()
      await queue.end()
      #expect(order.notes.sorted() == (0..<6).map { "\($0) 20" })
    }
  }

  // MARK: Cancelling

  @Test("Cancelled while the answer is on its way: both blocks get operationCancelled, once")
  @available(*, deprecated)
  func cancelMidway() async throws {
    try await run { cloud, proxy, container in
      proxy.hold(.answers)
      let order = Log()
      let operation = CKModifyRecordsOperation(recordsToSave: [CKRecord("Item", "A")])
      operation.perRecordSaveBlock = { _, _ in order.note("item") }
      operation.modifyRecordsResultBlock = { order.note("result \($0.error?.code.rawValue ?? 0)") }
      operation.modifyRecordsCompletionBlock = { _, _, error in
        order.note("completion \((error as? CKError)?.code.rawValue ?? 0)")
      }
      async let end: Void = operation.end(in: container.privateCloudDatabase)
      try await eventually("the answer is held") { proxy.isHolding }
      operation.cancel()
      operation.cancel()
      await end
      #expect(order.notes == ["result 20", "completion 20"])
      #expect(operation.isCancelled && operation.isFinished && !operation.isExecuting)
      // What the server did before stays done.
      let other = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      _ = try await other.record(for: recordID)
    }
  }

  @Test("Cancelled before it starts, it asks nothing; cancelled after its end, nothing changes")
  func cancelBeforeAndAfter() async throws {
    try await run { _, proxy, container in
      proxy.hold(.requests)
      let order = Log()
      let before = CKFetchRecordsOperation(recordIDs: [recordID])
      before.fetchRecordsResultBlock = { order.note("\($0.error?.code.rawValue ?? 0)") }
      before.cancel()
      await before.end(in: container.privateCloudDatabase)
      #expect(order.notes == ["20"] && !proxy.isHolding)
      proxy.release()
      let after = CKFetchRecordsOperation(recordIDs: [recordID])
      after.fetchRecordsResultBlock = { order.note("\($0.error?.code.rawValue ?? 0)") }
      await after.end(in: container.privateCloudDatabase)
      after.cancel()
      #expect(order.notes == ["20", "0"] && after.isFinished)
    }
  }

  @Test("Cancelling a task cancels the operation that its method waits for")
  func cancelTask() async throws {
    try await run { _, proxy, container in
      proxy.hold(.answers)
      let database = container.privateCloudDatabase
      let task = Task { try await database.record(for: CKRecord.ID(recordName: "A")) }
      try await eventually("the answer is held") { proxy.isHolding }
      task.cancel()
      let error = await #expect(throws: CKError.self) { try await task.value }
      #expect(error?.code == .operationCancelled)
      let early = Task {
        while !Task.isCancelled { await Task.yield() }
        return try await database.record(for: CKRecord.ID(recordName: "A"))
      }
      early.cancel()
      let earlyError = await #expect(throws: CKError.self) { try await early.value }
      #expect(earlyError?.code == .operationCancelled)
    }
  }

  // MARK: Timeouts

  @Test("A server that never answers is given up after the request's, or the resource's timeout")
  func timeouts() async throws {
    try await run { _, proxy, container in
      proxy.hold(.answers)
      let codes = Log()
      let request = CKFetchRecordsOperation(recordIDs: [recordID])
      request.configuration.timeoutIntervalForRequest = 1
      request.fetchRecordsResultBlock = { codes.note("request \($0.error?.code.rawValue ?? 0)") }
      await request.end(in: container.privateCloudDatabase)
      let resource = CKFetchRecordsOperation(recordIDs: [recordID])
      resource.qualityOfService = .utility
      resource.configuration.timeoutIntervalForRequest = 1
      resource.configuration.timeoutIntervalForResource = 1.5
      resource.fetchRecordsResultBlock = { codes.note("resource \($0.error?.code.rawValue ?? 0)") }
      await resource.end(in: container.privateCloudDatabase)
      #expect(codes.notes == ["request 4", "resource 4"])
    }
  }

  @Test("A timeout without end is allowed")
  func endlessTimeout() async throws {
    try await Cloud.run { cloud in
      let database = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      try await database.add("Item", "A")
      for interval in [TimeInterval.infinity, .greatestFiniteMagnitude] {
        let operation = CKFetchRecordsOperation(recordIDs: [recordID])
        operation.configuration.timeoutIntervalForRequest = interval
        operation.configuration.timeoutIntervalForResource = interval
        let codes = Log()
        operation.fetchRecordsResultBlock = { codes.note("\($0.error?.code.rawValue ?? 0)") }
        await operation.end(in: database)
        #expect(codes.notes == ["0"])
      }
    }
  }

  // MARK: Retries

  @Test("A server that is away is waited for by utility operations; others fail at once")
  func serverAway() async throws {
    try await Cloud.run { cloud in
      let container = try await cloud.container(of: "anna", device: "phone")
      try await container.privateCloudDatabase.add("Item", "A")
      await cloud.stopServer()
      let codes = Log()
      let impatient = CKFetchRecordsOperation(recordIDs: [recordID])
      impatient.fetchRecordsResultBlock = { codes.note("\($0.error?.code.rawValue ?? 0)") }
      await impatient.end(in: container.privateCloudDatabase)
      #expect(codes.notes == ["4"])
      let patient = CKModifyRecordsOperation(recordsToSave: [CKRecord("Item", "B")])
      patient.qualityOfService = .utility
      patient.modifyRecordsResultBlock = { codes.note("\($0.error?.code.rawValue ?? 0)") }
      async let end: Void = patient.end(in: container.privateCloudDatabase)
      try await cloud.startServer()
      await end
      #expect(codes.notes == ["4", "0"])
    }
  }

  // MARK: Life

  @Test("What blocks hold, their own operation included, is released with the end")
  @available(*, deprecated)
  func released() async throws {
    try await Cloud.run { cloud in
      let database = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      weak var operation: CKModifyRecordsOperation?
      weak var query: CKQueryOperation?
      weak var witness: Log?
      do {
        let held = Log()
        let saving = CKModifyRecordsOperation(recordsToSave: [CKRecord("Item", "A")])
        saving.perRecordProgressBlock = { _, _ in held.note("\(saving.isExecuting)") }
        saving.perRecordSaveBlock = { _, _ in held.note("\(saving.isExecuting)") }
        saving.perRecordCompletionBlock = { _, _ in held.note("\(saving.isExecuting)") }
        saving.modifyRecordsResultBlock = { _ in held.note("\(saving.isExecuting)") }
        saving.modifyRecordsCompletionBlock = { _, _, _ in held.note("\(saving.isExecuting)") }
        await saving.end(in: database)
        let finding = CKQueryOperation(query: CKQuery(recordType: "Item", predicate: .all))
        finding.recordMatchedBlock = { _, _ in held.note("\(finding.isExecuting)") }
        finding.recordFetchedBlock = { _ in held.note("\(finding.isExecuting)") }
        finding.queryResultBlock = { _ in held.note("\(finding.isExecuting)") }
        finding.queryCompletionBlock = { _, _ in held.note("\(finding.isExecuting)") }
        await finding.end(in: database)
        #expect(held.notes == Array(repeating: "true", count: 9))
        (operation, query, witness) = (saving, finding, held)
      }
      try await eventually("all is released") {
        operation == nil && query == nil && witness == nil
      }
    }
  }

  @Test("An operation that is never run goes away with what its blocks hold")
  func dropped() {
    weak var operation: CKFetchRecordsOperation?
    weak var witness: Log?
    do {
      let held = Log()
      let fetch = CKFetchRecordsOperation(recordIDs: [recordID])
      fetch.fetchRecordsResultBlock = { _ in held.note("called") }
      fetch.database =
        CKContainer(
          identifier: Cloud.container,
          configuration: PetrelConfiguration(
            serverURL: URL(fileURLWithPath: "/"), deviceID: "phone")
        ).privateCloudDatabase
      (operation, witness) = (fetch, held)
    }
    #expect(operation == nil && witness == nil)
  }

  @Test("An operation runs once, however often it is started")
  func once() async throws {
    try await Cloud.run { cloud in
      let database = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      let calls = Log()
      let operation = CKModifyRecordsOperation(recordsToSave: [CKRecord("Item", "A")])
      operation.modifyRecordsResultBlock = { calls.note("\($0.error?.code.rawValue ?? 0)") }
      operation.database = database
      await withCheckedContinuation { continuation in
        operation.completionBlock = { continuation.resume() }
        DispatchQueue.concurrentPerform(iterations: 8) { _ in operation.start() }
      }
      operation.start()
      #expect(calls.notes == ["0"])
    }
  }

  // MARK: Cursors

  @Test("A cursor goes on after the operation, the container and the server that made it")
  func cursor() async throws {
    try await Cloud.run { cloud in
      let names = (0..<5).map { "item-\($0)" }
      var archive = Data()
      do {
        let database = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
        try await database.modifyRecords(
          saving: names.map { CKRecord("Item", $0, ["name": $0]) }, deleting: [])
        let query = CKQuery(recordType: "Item", predicate: NSPredicate(format: "name != 'item-3'"))
        query.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let cursors = CursorBox()
        let operation = CKQueryOperation(query: query)
        operation.resultsLimit = 2
        operation.queryResultBlock = { cursors.cursor = (try? $0.get()) ?? nil }
        await operation.end(in: database)
        archive = try NSKeyedArchiver.archivedData(
          withRootObject: try #require(cursors.cursor), requiringSecureCoding: true)
      }
      await cloud.stopServer()
      try await cloud.startServer()
      let file = cloud.directory + "/cursor"
      try archive.write(to: URL(fileURLWithPath: file))
      let program = try Program(
        "OperationProbe", ["query", file],
        environment: [
          "PETREL_SERVER": await cloud.serverURL.absoluteString,
          "PETREL_CONTAINER": Cloud.container, "PETREL_TOKEN": try await cloud.token(of: "anna"),
          "PETREL_DEVICE": "anna-phone",
        ], in: cloud.directory)
      #expect(try await program.end() == 0)
      #expect(program.output == "found item-2 item-4\n")
    }
  }
}

/// The arguments of blocks, in order.
final class Log: @unchecked Sendable {
  private let lock = NSLock()
  private var stored: [String] = []

  var notes: [String] { lock.withLock { stored } }

  func note(_ text: String) {
    lock.withLock { stored.append(text) }
  }
}

private final class CursorBox: @unchecked Sendable {
  var cursor: CKQueryOperation.Cursor?
}

extension CKDatabaseOperation {
  /// Adds the operation to a database and comes back after its `completionBlock`.
  func end(in database: CKDatabase) async {
    await withCheckedContinuation { continuation in
      completionBlock = { continuation.resume() }
      database.add(self)
    }
  }
}

extension OperationQueue {
  /// Comes back when all operations are over.
  func end() async {
    await withCheckedContinuation { continuation in
      addBarrierBlock { continuation.resume() }
    }
  }
}

extension Result {
  /// The error as CloudKit's.
  var error: CKError? {
    if case .failure(let error) = self { return error as? CKError }
    return nil
  }
}
