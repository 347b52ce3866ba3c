internal import CloudKit
internal import CloudKitModel
import Foundation
internal import HTTPService
internal import WebServices

/// A request that saves or deletes records, for the faults that apply to its single records.
struct RecordSaves {
  /// The container, environment and database of the request.
  private let path: ServicePath
  /// The operations that can be parsed.
  private let operations: [RecordOperation]
  private let context: MessageContext

  /// Reads a request; nil if it is of another kind, or cannot be parsed.
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

  /// Whether the request saves a record.
  var savesRecords: Bool {
    operations.contains { $0.kind != .delete && $0.kind != .forceDelete }
  }

  /// Whether a save in the request can meet a conflict: one that needs the record's change tag.
  var canConflict: Bool { operations.contains(where: Self.canConflict) }

  /// Whether an operation needs the record's change tag.
  private static func canConflict(_ operation: RecordOperation) -> Bool {
    switch operation.kind {
    case .create, .update, .replace: true
    case .forceUpdate, .forceReplace, .delete, .forceDelete: false
    }
  }

  /// Returns the body of an answer that refuses each record with this error.
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

  /// Saves the records that can meet a conflict, as another device does.
  ///
  /// - Parameters:
  ///   - container: the container as the other device sees it.
  ///   - change: changes each record before the other device saves it.
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

  /// Returns the record for the other device: the server's, or a new one if the server has none.
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
  /// The database scope of a request; the public one if the request's path has none.
  fileprivate init(_ scope: DatabaseScope?) {
    self =
      switch scope {
      case .public, nil: .public
      case .private: .private
      case .shared: .shared
      }
  }
}
