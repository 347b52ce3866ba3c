internal import CloudKit
internal import CloudKitModel
import Foundation
internal import HTTPService
internal import WebServices

/// A request that saves or deletes records, for the faults that concern its single records.
struct RecordSaves {
  private let path: ServicePath
  private let operations: [RecordOperation]
  private let context: MessageContext

  /// Nil when the request is of another kind, or cannot be read.
  init?(_ request: HTTPRequest, userRecordName: String?) {
    guard let path = try? ServicePath(parsing: request.path),
      path.operation == TestOperation.modifyRecords.rawValue
    else { return nil }
    let context = MessageContext(
      ownerNaming: userRecordName.map { .relative(to: $0) } ?? .explicit)
    // A request that cannot be read is the service's to refuse.
    guard let body = try? ModifyRecordsRequest(parsing: request.body, context: context) else {
      return nil
    }
    self.path = path
    self.context = context
    // A request that cannot be read is the service's to refuse.
    operations = body.operations.compactMap { try? $0.get() }
  }

  /// Whether any record is saved.
  var savesRecords: Bool {
    operations.contains { $0.kind != .delete && $0.kind != .forceDelete }
  }

  /// Whether a save can meet a conflict.
  var canConflict: Bool { operations.contains(where: Self.canConflict) }

  private static func canConflict(_ operation: RecordOperation) -> Bool {
    switch operation.kind {
    case .create, .update, .replace: true
    case .forceUpdate, .forceReplace, .delete, .forceDelete: false
    }
  }

  /// The answer that refuses each record.
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

  /// Lets another device save the records that can meet a conflict.
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

  /// The record as the other device has it: the server's, or a new one where it has none.
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
  fileprivate init(_ scope: DatabaseScope?) {
    self =
      switch scope {
      case .public, nil: .public
      case .private: .private
      case .shared: .shared
      }
  }
}
