extension CKDatabaseOperation {
  /// Returns an operation as the class on which the program called the factory method.
  ///
  /// The initializers of operations are not `required`, so that subclasses need not repeat them.
  /// Therefore a factory method can only make an operation of the class that declares it. The
  /// program stops if the factory method was called on a subclass.
  static func made(_ operation: CKDatabaseOperation) -> Self {
    guard let operation = operation as? Self else {
      stopForInvalidArgument(
        "\(Self.self): the factory method cannot create a subclass; call it on "
          + "\(type(of: operation))")
    }
    return operation
  }
}
