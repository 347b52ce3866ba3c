/// The archive of a long-lived operation: its class, ID, database, configuration, group and inputs.
///
/// Blocks are not archived. The program sets them again after it has fetched the operation.
enum LongLivedArchive {
  /// Returns the archive of an operation; `nil` when its class cannot be long-lived.
  static func data(of operation: CKOperation) -> Data? {
    guard let kind = LongLivedKind.of(operation), let operation = operation as? CKDatabaseOperation
    else { return nil }
    let values = operation.effectiveValues
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    archiver.encode(kind.name as NSString, forKey: "kind")
    archiver.encode(operation.operationID as NSString, forKey: "operationID")
    archiver.encode(operation.scope.rawValue, forKey: "scope")
    archiver.encode(values.effectiveQualityOfService.rawValue, forKey: "qualityOfService")
    archiver.encode(values.allowsCellularAccess ?? true, forKey: "allowsCellularAccess")
    archiver.encode(values.effectiveRequestTimeout, forKey: "timeoutIntervalForRequest")
    archiver.encode(values.effectiveResourceTimeout, forKey: "timeoutIntervalForResource")
    if let group = operation.group { archiver.encode(group, forKey: "group") }
    kind.encode(operation, archiver)
    archiver.finishEncoding()
    return archiver.encodedData
  }

  /// Creates an operation from an archive, for a database of `container`.
  ///
  /// - Parameter operationID: the ID that must be in the archive.
  /// - Throws: `internalError` when the archive is damaged, has another ID, or was written by
  ///   another version.
  static func operation(
    _ data: Data, operationID: CKOperation.ID, container: CKContainer
  ) throws(CKError) -> CKDatabaseOperation {
    let unreadable = CKError(
      .internalError,
      "the archive of long-lived operation \(operationID) cannot be read: it is damaged, or another "
        + "version of Petrel wrote it")
    // Every failure means the same to the caller: the archive cannot be read.
    guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data) else { throw unreadable }
    unarchiver.decodingFailurePolicy = .setErrorAndReturn
    defer { unarchiver.finishDecoding() }
    guard
      let kind = unarchiver.decodeOptionalString(forKey: "kind")
        .flatMap({ LongLivedKind.named($0) }),
      unarchiver.decodeOptionalString(forKey: "operationID") == operationID,
      let scope = [CKDatabase.Scope.public, .private, .shared]
        .first(where: { $0.rawValue == unarchiver.decodeInteger(forKey: "scope") })
    else { throw unreadable }
    let operation = kind.decode(unarchiver)
    operation.database = container.database(with: scope)
    let configuration = CKOperation.Configuration()
    configuration.isLongLived = true
    configuration.qualityOfService =
      QualityOfService(rawValue: unarchiver.decodeInteger(forKey: "qualityOfService")) ?? .default
    configuration.allowsCellularAccess = unarchiver.decodeBool(forKey: "allowsCellularAccess")
    configuration.timeoutIntervalForRequest = unarchiver.decodeDouble(
      forKey: "timeoutIntervalForRequest")
    configuration.timeoutIntervalForResource = unarchiver.decodeDouble(
      forKey: "timeoutIntervalForResource")
    operation.configuration = configuration
    operation.group = unarchiver.decodeOptional(CKOperationGroup.self, forKey: "group")
    guard unarchiver.error == nil else { throw unreadable }
    operation.resume(as: operationID)
    return operation
  }
}
