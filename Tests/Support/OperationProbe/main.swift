import CloudKit

// A program that the tests run in a process of its own, to kill it or to block all of its tasks:
//
//     OperationProbe save NAME…        saves records with a long-lived operation
//     OperationProbe hang NAME…        the same, but never comes back from the first block
//     OperationProbe resume ID         goes on with a long-lived operation
//     OperationProbe list              lists the long-lived operations
//     OperationProbe block-tasks       blocks more tasks than there are threads for tasks
//     OperationProbe query CURSORFILE  goes on with a query
//     OperationProbe subscribe ID…     saves a query and a database subscription with each ID
//     OperationProbe search TYPE TEXT  runs a query with a predicate

let arguments = Array(CommandLine.arguments.dropFirst())
let container = CKContainer.default()

func code(_ error: any Error) -> String {
  (error as? CKError)?.code.caseName ?? "\(error)"
}

func stop(_ text: String) -> Never {
  say(text)
  exit(EXIT_FAILURE)
}

/// Sets the blocks of an operation, adds it and waits for its end.
func run(_ operation: CKModifyRecordsOperation, hangs: Bool = false) {
  operation.perRecordSaveBlock = { recordID, result in
    switch result {
    case .success(let record):
      say("saved \(recordID.recordName) \(record.recordChangeTag ?? "without a tag")")
    case .failure(let error):
      say("failed \(recordID.recordName) \(code(error))")
    }
    if hangs { while true { pause() } }
  }
  operation.modifyRecordsResultBlock = { result in
    switch result {
    case .success: say("result ok")
    case .failure(let error): say("result \(code(error))")
    }
  }
  container.add(operation)
  operation.waitUntilFinished()
}

switch arguments.first {
case "save", "hang":
  let operation = CKModifyRecordsOperation(
    recordsToSave: arguments.dropFirst().map {
      let record = CKRecord(recordType: "Item", recordID: CKRecord.ID(recordName: $0))
      record["name"] = $0
      return record
    })
  operation.configuration.isLongLived = true
  let operationID = operation.operationID
  operation.longLivedOperationWasPersistedBlock = { say("persisted \(operationID)") }
  run(operation, hangs: arguments.first == "hang")

case "resume":
  let found = DispatchSemaphore(value: 0)
  container.fetchLongLivedOperation(withID: arguments[1]) { operation, error in
    if let error { stop("error \(code(error))") }
    guard let operation = operation as? CKModifyRecordsOperation else { stop("nothing") }
    DispatchQueue.global().async {
      run(operation)
      found.signal()
    }
  }
  found.wait()

case "list":
  let listed = DispatchSemaphore(value: 0)
  container.fetchAllLongLivedOperationIDs { operationIDs, error in
    if let error { stop("error \(code(error))") }
    say("kept \((operationIDs ?? []).joined(separator: " "))")
    listed.signal()
  }
  listed.wait()

case "block-tasks":
  await blockTasks()

case "query":
  let data = try Data(contentsOf: URL(fileURLWithPath: arguments[1]))
  guard
    let cursor = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQueryCursor.self, from: data)
  else { stop("no cursor") }
  let page = try await container.privateCloudDatabase.records(continuingMatchFrom: cursor)
  say("found \(page.matchResults.map(\.0.recordName).joined(separator: " "))")

case "subscribe":
  let database = container.privateCloudDatabase
  let info = CKSubscription.NotificationInfo(shouldSendContentAvailable: true)
  for subscriptionID in arguments.dropFirst() {
    let query = CKQuerySubscription(
      recordType: "Item", predicate: NSPredicate(value: true), subscriptionID: subscriptionID,
      options: .firesOnRecordCreation)
    let whole = CKDatabaseSubscription(subscriptionID: subscriptionID)
    for subscription in [query, query, whole] {
      subscription.notificationInfo = info
      _ = try await database.save(subscription)
    }
  }
  say("subscribed")

case "search":
  let query = CKQuery(recordType: arguments[1], predicate: NSPredicate(format: arguments[2]))
  do {
    let page = try await container.privateCloudDatabase.records(matching: query)
    say("found \(page.matchResults.count)")
  } catch {
    say("failed \(code(error))")
  }

default:
  stop("OperationProbe: what to do?")
}
