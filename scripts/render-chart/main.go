// Renders the templates of a chart as Helm does: Go's templates with sprig and Helm's own functions, strict about missing values.
// Reads {"chart": …, "values": …, "release": …} from standard input, and writes {file: text}.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

type input struct {
	Folder  string                 `json:"folder"`
	Chart   map[string]interface{} `json:"chart"`
	Values  map[string]interface{} `json:"values"`
	Release map[string]interface{} `json:"release"`
}

func functions(all *template.Template) template.FuncMap {
	known := sprig.TxtFuncMap()
	// Helm leaves these out, because a chart must not depend on the machine that renders it.
	delete(known, "env")
	delete(known, "expandenv")
	known["toYaml"] = func(value interface{}) (string, error) {
		text := &bytes.Buffer{}
		encoder := yaml.NewEncoder(text)
		encoder.SetIndent(2)
		err := encoder.Encode(value)
		return strings.TrimSuffix(text.String(), "\n"), err
	}
	known["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(message)
		}
		return value, nil
	}
	known["include"] = func(name string, data interface{}) (string, error) {
		text := &strings.Builder{}
		err := all.ExecuteTemplate(text, name, data)
		return text.String(), err
	}
	return known
}

func render(given input) (map[string]string, error) {
	all := template.New("chart").Option("missingkey=error")
	all.Funcs(functions(all))
	paths, err := filepath.Glob(filepath.Join(given.Folder, "templates", "*"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if _, err := all.New(filepath.Base(path)).Parse(string(text)); err != nil {
			return nil, err
		}
	}
	data := map[string]interface{}{"Chart": given.Chart, "Values": given.Values, "Release": given.Release}
	rendered := map[string]string{}
	for _, path := range paths {
		if name := filepath.Base(path); strings.HasSuffix(name, ".yaml") {
			text := &strings.Builder{}
			if err := all.ExecuteTemplate(text, name, data); err != nil {
				return nil, err
			}
			rendered[name] = text.String()
		}
	}
	return rendered, nil
}

func main() {
	var given input
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	rendered, err := render(given)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	json.NewEncoder(os.Stdout).Encode(rendered)
}
