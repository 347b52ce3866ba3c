import CloudKitModel
import Foundation
import WebServices

/// The server's context for a user called `_me`.
let serverContext = MessageContext(ownerNaming: .relative(to: "_me"))

/// The reason of the error that `body` throws; nil when it throws none.
func reason(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch let error as ServiceError where error.code == .badRequest {
    return error.reason
  } catch let failed as FailedItem where failed.error.code == .badRequest {
    return failed.error.reason
  } catch {
    return "not a BAD_REQUEST: \(error)"
  }
}

/// The operations of a `records/modify` request.
func recordOperations(_ body: String) throws -> [Result<RecordOperation, FailedItem>] {
  try ModifyRecordsRequest(parsing: Data(body.utf8), context: serverContext).operations
}

/// The only operation of a request with this JSON in `operations`.
func recordOperation(_ json: String) throws -> RecordOperation {
  try recordOperations(#"{"operations":[\#(json)]}"#)[0].get()
}

/// The value that a server reads from this JSON of a field.
func fieldValue(_ json: String) throws -> RecordValue? {
  try recordOperation(
    #"""
    {"operationType":"update","record":{"recordName":"r","fields":{"magnitude":\#(json)}}}
    """#
  ).fields["magnitude"] ?? nil
}

func query(_ json: String) throws -> QueryRecordsRequest {
  try QueryRecordsRequest(parsing: Data(json.utf8), context: serverContext)
}

/// The filter that a server reads from this JSON.
func filter(_ json: String) throws -> Filter {
  try query(#"{"query":{"recordType":"Quake","filterBy":[\#(json)]}}"#).query.filters[0]
}

func subscriptionOperations(_ body: String) throws -> [Result<SubscriptionOperation, FailedItem>] {
  try ModifySubscriptionsRequest(parsing: Data(body.utf8), context: serverContext).operations
}

/// The subscription that a server reads from the JSON of a `create` operation.
func subscription(_ json: String) throws -> Subscription {
  let operation = try subscriptionOperations(
    #"{"operations":[{"operationType":"create","subscription":\#(json)}]}"#)[0].get()
  guard case .save(let subscription) = operation else {
    throw ServiceError(.internalError, "\(operation)")
  }
  return subscription
}
