import CloudKit

/// Prints a line at once.
func say(_ text: String) {
  FileHandle.standardOutput.write(Data("\(text)\n".utf8))
}

/// Ways to wait for an operation on the thread of a task.
private enum Waiting: CaseIterable {
  case start
  case queue
  case queueWithDependencies
  case containerAdd
  case databaseAdd
  case convenience
  case account
  case completionBlock
  case cancelled
}

/// Blocks four times as many tasks as there are threads for tasks in each of the ways, and prints
/// `unblocked` when all have come back.
func blockTasks() async {
  let count = 4 * ProcessInfo.processInfo.activeProcessorCount
  await withTaskGroup(of: Void.self) { group in
    for way in Waiting.allCases {
      for _ in 0..<count { group.addTask { wait(way) } }
    }
  }
  say("unblocked")
}

private func fetch() -> CKFetchRecordsOperation {
  CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "A")])
}

private func wait(_ way: Waiting) {
  let container = CKContainer.default()
  let database = container.privateCloudDatabase
  let over = DispatchSemaphore(value: 0)
  switch way {
  case .start:
    let operation = fetch()
    operation.start()
    operation.waitUntilFinished()
  case .queue:
    let queue = OperationQueue()
    queue.addOperations([fetch(), fetch()], waitUntilFinished: false)
    queue.waitUntilAllOperationsAreFinished()
  case .queueWithDependencies:
    let queue = OperationQueue()
    let first = fetch()
    let second = BlockOperation {}
    let third = fetch()
    second.addDependency(first)
    third.addDependency(second)
    queue.addOperations([third, second, first], waitUntilFinished: true)
  case .containerAdd:
    let operation = fetch()
    operation.fetchRecordsResultBlock = { _ in over.signal() }
    container.add(operation)
    over.wait()
  case .databaseAdd:
    let operation = fetch()
    operation.fetchRecordsResultBlock = { _ in over.signal() }
    database.add(operation)
    over.wait()
  case .convenience:
    database.fetch(withRecordID: CKRecord.ID(recordName: "A")) { _, _ in over.signal() }
    over.wait()
  case .account:
    container.accountStatus { _, _ in over.signal() }
    over.wait()
  case .completionBlock:
    let operation = fetch()
    operation.completionBlock = { over.signal() }
    database.add(operation)
    over.wait()
  case .cancelled:
    let operation = fetch()
    operation.fetchRecordsResultBlock = { _ in over.signal() }
    database.add(operation)
    operation.cancel()
    over.wait()
  }
}
