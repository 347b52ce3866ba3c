/// A program that could not be started, or did not do what it is started for.
package struct ProcessError: Error, CustomStringConvertible {
  package var description: String

  package init(_ description: String) {
    self.description = description
  }
}
