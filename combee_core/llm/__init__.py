"""Language models behind one small protocol: any OpenAI-compatible endpoint, structured answers, prices."""
