/// A failure of a program that this program has started, or could not start.
package struct ProcessError: Error, CustomStringConvertible {
  /// A description of the failure for a person to read.
  package var description: String

  /// Creates a failure.
  package init(_ description: String) {
    self.description = description
  }
}
