/// A failure of a program that this program has started, or could not start.
package struct ProcessError: Error, CustomStringConvertible {
  package var description: String

  package init(_ description: String) {
    self.description = description
  }
}
