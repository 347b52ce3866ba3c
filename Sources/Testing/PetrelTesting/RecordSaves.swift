internal import CloudKit
internal import CloudKitModel
import Foundation
internal import HTTPService
internal import WebServices

/// A request that saves or deletes records. It is used for faults that apply to the single records:
/// a full storage, and a conflict.
struct RecordSaves {
  private let path: ServicePath
  /// The operations that can be parsed.
  private let operations: [RecordOperation]
  private let context: MessageContext

  /// Parses a request. Nil if the request is of another kind, or cannot be parsed.
  init?(_ request: HTTPRequest, userRecordName: String?) {
    guard let path = try? ServicePath(parsing: request.path),
      path.operation == TestOperation.modifyRecords.rawValue
    else { return nil }
    let context = MessageContext(
      ownerNaming: userRecordName.map { .relative(to: $0) } ?? .explicit)
    // The service refuses a request that cannot be parsed.
    guard let body = try? ModifyRecordsRequest(parsing: request.body, context: context) else {
      return nil
    }
    self.path = path
    self.context = context
    // The service refuses a request that cannot be parsed.
    operations = body.operations.compactMap { try? $0.get() }
  }

  var savesRecords: Bool {
    operations.contains { $0.kind != .delete && $0.kind != .forceDelete }
  }

  /// Whether a save in the request fails if another device has saved the same record before.
  var canConflict: Bool { operations.contains(where: Self.canConflict) }

  /// Whether an operation fails if another device has saved the same record before.
  private static func canConflict(_ operation: RecordOperation) -> Bool {
    switch operation.kind {
    case .create, .update, .replace: true
    case .forceUpdate, .forceReplace, .delete, .forceDelete: false
    }
  }

  func refusal(_ code: ServerErrorCode, _ reason: String) -> Data {
    let items = operations.map { operation in
      Result<RecordsResponse.Item, FailedItem>.failure(
        FailedItem(
          .record(
            recordName: operation.recordID.recordName, zoneID: operation.recordID.zoneID),
          ServiceError(code, reason)))
    }
    return RecordsResponse(records: items).body(context: context)
  }

  /// Saves each record whose save can fail because of a conflict, as another device would.
  func interfere(
    as container: CKContainer, _ change: @Sendable (CKRecord) -> Void
  ) async throws {
    let database = container.database(with: CKDatabase.Scope(path.scope))
    for operation in operations where Self.canConflict(operation) {
      let record = try await Self.record(for: operation, in: database)
      change(record)
      _ = try await database.save(record)
    }
  }

  /// Returns the record that the other device changes: the server's record. If the server has none
  /// and the operation creates the record, returns a new record.
  private static func record(
    for operation: RecordOperation, in database: CKDatabase
  ) async throws -> CKRecord {
    let recordID = CKRecord.ID(
      recordName: operation.recordID.recordName,
      zoneID: CKRecordZone.ID(
        zoneName: operation.recordID.zoneID.zoneName,
        ownerName: operation.recordID.zoneID.ownerName))
    do {
      return try await database.record(for: recordID)
    } catch CKError.unknownItem where operation.kind == .create {
      return CKRecord(recordType: operation.recordType ?? "", recordID: recordID)
    }
  }
}

extension CKDatabase.Scope {
  /// Creates the database scope of a request; the public scope if the request's path has none.
  fileprivate init(_ scope: DatabaseScope?) {
    self =
      switch scope {
      case .public, nil: .public
      case .private: .private
      case .shared: .shared
      }
  }
}
