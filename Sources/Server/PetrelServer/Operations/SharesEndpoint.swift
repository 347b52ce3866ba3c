import CloudKitModel
import Foundation
import WebServices

/// `records/resolve` and `records/accept`. This server keeps no shares yet, and says so for each.
struct SharesEndpoint: Sendable {
  func refuse(_ context: RequestContext) throws -> Data {
    _ = try context.user()
    let request = try ResolveSharesRequest(parsing: context.body)
    return SharesResponse(
      results: request.items.map { item in
        .failure(FailedItem(.share(shortGUID: item.shortGUID), Self.refusal))
      }
    ).body
  }

  /// Lets an operation pass unless it saves a share.
  static func check(_ operation: RecordOperation) -> Result<RecordOperation, FailedItem> {
    guard operation.recordType == ShareContent.recordType else { return .success(operation) }
    return .failure(FailedItem(.record(operation.recordID), refusal))
  }

  private static var refusal: ServiceError {
    ServiceError(.notSupported, "sharing is not supported by this server")
  }
}
