/// The placeholders of a localised text.
enum StringTemplate {
  /// The text with arguments in the place of its placeholders.
  ///
  /// As in Foundation, `%@` takes the next argument, and `%2$@` the second one without changing which is next. A percent sign
  /// that begins no placeholder stays.
  static func fill(_ text: String, with arguments: [String]) -> String {
    var next = 0
    // Flags, width, precision and length are read and have no effect. A space is no flag here: "5 % discount" is a text.
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
