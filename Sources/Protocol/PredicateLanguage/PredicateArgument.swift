/// An argument for a placeholder such as `%@`.
package struct PredicateArgument: Sendable {
  package var expression: PredicateTerm
  /// The name of the argument's Swift type, for error messages.
  package var typeName: String

  package init(_ expression: PredicateTerm, typeName: String) {
    self.expression = expression
    self.typeName = typeName
  }
}
