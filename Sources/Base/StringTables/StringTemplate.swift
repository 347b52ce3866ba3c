/// The placeholders of a localised text.
enum StringTemplate {
  /// Returns the text with the arguments in place of its placeholders.
  ///
  /// As in Foundation, `%@` takes the next argument. `%2$@` takes the second one and does not
  /// change which is next. A percent sign that begins no placeholder stays.
  static func fill(_ text: String, with arguments: [String]) -> String {
    var next = 0
    // Flags, width, precision and length are read and have no effect. A space is not a flag here,
    // because "5 % discount" is a plain text.
    let placeholder =
      #/%(?:%|(?:(\d+)\$)?[\-+#0']*\d*(?:\.\d*)?(?:hh|h|ll|l|q|L|z|t|j)?[@dDiuUxXoOfFeEgGaAcCsSp])/#
      .matchingSemantics(.unicodeScalar)
    return text.replacing(placeholder) { match in
      if match.output.0 == "%%" { return "%" }
      let index: Int
      if let position = match.output.1 {
        index = (Int(position) ?? 0) - 1
      } else {
        index = next
        next += 1
      }
      return arguments.indices.contains(index) ? arguments[index] : ""
    }
  }
}
