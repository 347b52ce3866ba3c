extension CKDatabaseOperation {
  /// What a factory method returns: the operation, as the class that the method was called on.
  ///
  /// Initializers of operations are not `required`, so that subclasses need not repeat them; so a
  /// factory makes an operation of the class that declares it.
  static func made(_ operation: CKDatabaseOperation) -> Self {
    guard let operation = operation as? Self else {
      stopForInvalidArgument(
        "\(Self.self): call the factory method on \(type(of: operation)), it makes no subclasses")
    }
    return operation
  }
}
