import CloudKitModel
import Foundation
import WebServices

/// The endpoint of `records/resolve`, `records/accept` and `records/requestAccess`.
///
/// This server does not support shares yet. Each item fails with the reason code `NOT_SUPPORTED`.
struct SharesEndpoint: Sendable {
  var operations: [Operation] {
    let details = "It has no shares. Each item fails with the reason code NOT_SUPPORTED."
    let answer = "One item for each short GUID, in order."
    return [
      Operation(
        "records/resolve", of: .anyDatabase, for: .users, .reads, refuse,
        .init("Sharing", "Look at shares by their short GUIDs", details, answer: answer)),
      Operation(
        "records/accept", of: .anyDatabase, for: .users, .changes, refuse,
        .init("Sharing", "Take part in shares", details, answer: answer)),
      Operation(
        "records/requestAccess", of: .anyDatabase, for: .users, .changes, refuseAccess,
        .init("Sharing", "Request access to shares", details, answer: answer)),
    ]
  }

  /// Answers `records/resolve` and `records/accept`: each item fails.
  private func refuse(
    _ request: ResolveSharesRequest, _ context: RequestContext
  ) -> SharesResponse {
    SharesResponse(
      results: request.items.map { item in
        .failure(FailedItem(.share(shortGUID: item.shortGUID), Self.refusal))
      })
  }

  /// Answers `records/requestAccess`: each item fails.
  private func refuseAccess(
    _ request: RequestAccessRequest, _ context: RequestContext
  ) -> RequestAccessResponse {
    RequestAccessResponse(
      results: request.shortGUIDs.map { shortGUID in
        .failure(FailedItem(.share(shortGUID: shortGUID), Self.refusal))
      })
  }

  /// Refuses an operation that saves a share, and returns any other operation unchanged.
  static func check(_ operation: RecordOperation) -> Result<RecordOperation, FailedItem> {
    guard operation.recordType == ShareContent.recordType else { return .success(operation) }
    return .failure(FailedItem(.record(operation.recordID), refusal))
  }

  /// The error for everything about shares.
  private static var refusal: ServiceError {
    ServiceError(.notSupported, "sharing is not supported by this server")
  }
}
