/// What is put in for `%@` and the like.
package struct PredicateArgument: Sendable {
  package var expression: PredicateTerm
  /// The name of the argument's type, for messages.
  package var typeName: String

  package init(_ expression: PredicateTerm, typeName: String) {
    self.expression = expression
    self.typeName = typeName
  }
}
